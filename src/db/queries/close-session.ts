import type { Queryable } from './queryable.js';

const text = `
UPDATE chat_sessions
SET status = 'CLOSED', closed_at = coalesce(closed_at, now()),
    updated_at = CASE WHEN status = 'OPEN' THEN now() ELSE updated_at END
WHERE id = $1 AND owner = $2 AND tenant = $3`;

/** Closes a session; closing it again changes nothing. False when it is not there or not the caller's. */
export async function closeSession(
  db: Queryable,
  session: { readonly sessionId: string; readonly owner: string; readonly tenant: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'close-session',
    text,
    values: [session.sessionId, session.owner, session.tenant],
  });
  return rowCount === 1;
}
