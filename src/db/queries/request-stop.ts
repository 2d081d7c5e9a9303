import type { Queryable } from './queryable.js';

const text = `
WITH session AS (
  SELECT id, active_turn_id FROM chat_sessions WHERE id = $1 AND owner = $2 AND tenant = $3
), turn AS (
  UPDATE turns SET stop_requested_at = coalesce(stop_requested_at, now())
  FROM session WHERE turns.id = session.active_turn_id AND turns.finished_at IS NULL
  RETURNING turns.id
)
SELECT turn.id AS turn_id FROM session LEFT JOIN turn ON true`;

/**
 * Notes on the active turn that it shall stop; its owner reads that when it renews its lease. Undefined when the
 * session is not there or not the caller's, null when nothing runs.
 */
export async function requestStop(
  db: Queryable,
  session: { readonly sessionId: string; readonly owner: string; readonly tenant: string },
): Promise<string | null | undefined> {
  const { rows } = await db.query<{ turn_id: string | null }>({
    name: 'request-stop',
    text,
    values: [session.sessionId, session.owner, session.tenant],
  });
  return rows[0]?.turn_id;
}
