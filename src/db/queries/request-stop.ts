import type { Queryable } from './queryable.js';

const text = `
WITH session AS (
  SELECT id FROM chat_sessions
  WHERE id = $1 AND owner = $2 AND tenant = $3
    AND ($4::uuid IS NULL OR EXISTS (SELECT FROM turns t WHERE t.id = $4 AND t.session_id = $1))
), turn AS (
  UPDATE turns SET stop_requested_at = coalesce(stop_requested_at, now())
  FROM session
  WHERE turns.session_id = session.id AND turns.status IN ('RUNNING', 'AWAITING_INPUT') AND ($4 IS NULL OR turns.id = $4)
  RETURNING turns.id
)
SELECT turn.id AS turn_id FROM session LEFT JOIN turn ON true`;

/**
 * Notes on the active turn of a session that it shall stop, or only if it is a certain one; its owner looks for that.
 * Undefined when the session is not there, not the caller's, or does not have that turn; null when nothing runs.
 */
export async function requestStop(
  db: Queryable,
  session: { readonly sessionId: string; readonly owner: string; readonly tenant: string },
  turnId: string | null,
): Promise<string | null | undefined> {
  const { rows } = await db.query<{ turn_id: string | null }>({
    name: 'request-stop',
    text,
    values: [session.sessionId, session.owner, session.tenant, turnId],
  });
  return rows[0]?.turn_id;
}
