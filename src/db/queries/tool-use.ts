import type { Queryable } from './queryable.js';

/** Calls that are looked back at, so that a long session does not take longer. */
const lastCalls = 200;

const text = `
WITH recent AS (
  SELECT name, result, created_at, id FROM tool_calls WHERE session_id = $1
  ORDER BY created_at DESC, id DESC LIMIT ${lastCalls}
)
SELECT (SELECT coalesce(json_agg(name ORDER BY created_at DESC, id DESC), '[]') FROM recent) AS called,
       (SELECT coalesce(json_agg(result ORDER BY created_at DESC, id DESC), '[]') FROM recent
        WHERE name = $2 AND result IS NOT NULL) AS found,
       (SELECT coalesce(string_agg(said, E'\\n'), '') FROM (
          SELECT left(content, 2000) AS said FROM messages
          WHERE session_id = $1 AND trimmed_at IS NULL AND role = 'USER'
          ORDER BY sequence DESC LIMIT 3) AS last) AS said`;

/**
 * The tools that a session has called, the last one first; what its calls of the tool that finds tools have given; and the
 * last words of its user.
 */
export async function toolUse(
  db: Queryable,
  sessionId: string,
  finder: string,
): Promise<{ called: string[]; found: string[]; said: string }> {
  const { rows } = await db.query<{ called: string[]; found: string[]; said: string }>({
    name: 'tool-use',
    text,
    values: [sessionId, finder],
  });
  const { called = [], found = [], said = '' } = rows[0] ?? {};
  return { called: [...new Set(called)], found, said };
}
