const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
]);

/**
 * SQLSTATEs that say "not now" about the server or the connection rather than something about the statement: broken
 * connections (08), no resources (53), shutdown, crash or start-up (57P01–57P05), a cancelled statement (57014, our
 * statement_timeout), a killed idle transaction (25P03), and a primary that became a standby (25006).
 */
const unavailableStates = /^(?:08...|53...|57P0[1-5]|57014|25P03|25006)$/;

/** Prisma's own codes for the same, and the kinds that its driver adapter gives to errors of `pg`. */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037']);
const adapterKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);

/** `pg` and its pool give these no code, so their texts are all there is to go by. */
const driverMessages = [
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Query read timeout',
  'is not queryable',
  'Cannot use a pool after calling end on the pool',
  'Unable to start a transaction in the given time',
];

/** The error itself and everything that it wraps: causes, parts of an AggregateError, what Prisma's adapter attaches. */
function* withCauses(error: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (typeof error !== 'object' || error === null || depth > 8) return;
  const record = error as Record<string, unknown>;
  yield record;
  const meta = record.meta as Record<string, unknown> | undefined;
  const parts = Array.isArray(record.errors) ? record.errors : [];
  for (const inner of [record.cause, meta?.driverAdapterError, ...parts]) yield* withCauses(inner, depth + 1);
}

/**
 * Whether the database could not be reached or could not serve right now, so that the same call may succeed later.
 * Knows the errors of `pg`, of its pool and of Prisma. False for everything that is about the statement.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (const { code, originalCode, kind, message } of withCauses(error)) {
    for (const value of [code, originalCode]) {
      if (typeof value !== 'string') continue;
      if (socketCodes.has(value) || prismaCodes.has(value) || unavailableStates.test(value)) return true;
    }
    if (typeof kind === 'string' && adapterKinds.has(kind)) return true;
    if (typeof message === 'string' && driverMessages.some((text) => message.includes(text))) return true;
  }
  return false;
}

/**
 * Whether a row was refused because of a unique constraint or index; with `constraint`, whether it was that one. Knows
 * the errors of `pg` and of Prisma.
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  for (const part of withCauses(error)) {
    if (part.code !== '23505' && part.kind !== 'UniqueConstraintViolation') continue;
    const violated = part.constraint as string | { index?: string } | undefined;
    const name = typeof violated === 'object' ? violated.index : violated;
    if (constraint === undefined || name === constraint) return true;
  }
  return false;
}

/**
 * Whether a row was refused because another one that it points at is gone, or because others still point at it. Knows
 * the errors of `pg` only. For the latter under RESTRICT, Postgres has had a code of its own since 18.
 */
export function isForeignKeyViolation(error: unknown): boolean {
  for (const { code } of withCauses(error)) if (code === '23503' || code === '23001') return true;
  return false;
}

/**
 * What may be logged of a database error. The error itself must not: the pool hangs the whole client on it, password
 * included, and Postgres puts values of rows into its details.
 */
export function describeDatabaseError(error: unknown): { readonly code?: string; readonly reason: string } {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return { ...(typeof code === 'string' ? { code } : {}), reason: String(message || error) };
}
