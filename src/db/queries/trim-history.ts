import type { Queryable } from './queryable.js';

// A group is an assistant message with the tool messages that answer its calls, or any other message alone. Groups
// leave from the old end, whole, until the limit holds; the newest one stays even when it alone is larger, unless the
// limit is 0. Rows that a turn refers to stay as its record and only leave the history; others are deleted.
//
// The history is read from its new end, as many rows as the session counts, and rows are written by a list of their ids:
// whatever the statistics say of other sessions, the plan then reads this history alone, and nothing of what has left it.
const text = `
WITH history AS (
  SELECT id, turn_id, role, sequence FROM messages WHERE session_id = $1 AND trimmed_at IS NULL
  ORDER BY sequence DESC LIMIT (SELECT message_count FROM chat_sessions WHERE id = $1)
), retained AS (
  SELECT id, turn_id, sequence, count(*) FILTER (WHERE role <> 'TOOL') OVER (ORDER BY sequence) AS grp FROM history
), kept AS (
  SELECT grp, sum(count(*)) OVER (ORDER BY grp DESC) AS total, max(grp) OVER () AS newest FROM retained GROUP BY grp
), surplus AS (
  SELECT retained.id, retained.turn_id, retained.sequence FROM retained JOIN kept USING (grp)
  WHERE kept.total > $2 AND ($2 = 0 OR grp <> newest)
), trimmed AS (
  UPDATE messages SET trimmed_at = now(), updated_at = now()
  WHERE id = ANY (ARRAY(SELECT id FROM surplus WHERE turn_id IS NOT NULL))
), deleted AS (
  DELETE FROM messages WHERE id = ANY (ARRAY(SELECT id FROM surplus WHERE turn_id IS NULL))
), untrue AS (
  DELETE FROM context_summaries c
  WHERE c.session_id = $1 AND c.from_sequence <= (SELECT max(sequence) FROM surplus)
), session AS (
  UPDATE chat_sessions
  SET message_count = message_count - surplus.n, last_trace_sequence = last_trace_sequence + 1
  FROM (SELECT count(*)::int AS n FROM surplus) AS surplus
  WHERE id = $1 AND surplus.n > 0
  RETURNING id, message_count, last_trace_sequence, surplus.n
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $3, id, $4::uuid, last_trace_sequence, 'HISTORY_TRIMMED',
         jsonb_build_object('trimmed', n, 'kept', message_count, 'maxHistory', $2::int)
  FROM session
)
SELECT message_count FROM session`;

/**
 * Takes the oldest messages out of a session's history until at most `maxHistory` are left, with a summary that tells
 * them, and traces it. Runs in the transaction of the turn or seed that made the history grow.
 *
 * @returns how many messages are left; null when none had to go.
 */
export async function trimHistory(
  db: Queryable,
  sessionId: string,
  maxHistory: number,
  trace: { readonly id: string; readonly turnId: string | null },
): Promise<number | null> {
  const { rows } = await db.query<{ message_count: number }>({
    name: 'trim-history',
    text,
    values: [sessionId, maxHistory, trace.id, trace.turnId],
  });
  return rows[0]?.message_count ?? null;
}
