import type { Queryable } from './queryable.js';

/** Calls of a session that are looked at: what went wrong long ago says nothing about now. */
const newest = 50;

const text = `
WITH recent AS (
  SELECT name, status, created_at, id FROM tool_calls WHERE session_id = $1 ORDER BY created_at DESC, id DESC LIMIT ${newest}
), ended AS (
  SELECT status, row_number() OVER (ORDER BY created_at DESC, id DESC) AS nth
  FROM recent WHERE name = $2 AND status IN ('SUCCEEDED', 'FAILED', 'DENIED')
)
SELECT count(*)::int AS failures FROM ended
WHERE nth < coalesce((SELECT min(nth) FROM ended WHERE status = 'SUCCEEDED'), ${newest + 1})`;

/** How often a tool has failed or was denied in a session since it succeeded last. */
export async function failuresInARow(db: Queryable, sessionId: string, name: string): Promise<number> {
  const { rows } = await db.query<{ failures: number }>({ name: 'failures-in-a-row', text, values: [sessionId, name] });
  return rows[0]?.failures ?? 0;
}
