/** Why the embedded Postgres cannot start: one sentence for the operator that says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
