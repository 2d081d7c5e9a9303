/** Why the database cannot be brought to the schema of this build: a sentence for the operator that says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
