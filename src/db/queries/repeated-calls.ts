import type { Queryable } from './queryable.js';

const text = `
SELECT o.id
FROM tool_calls o
JOIN tool_calls f ON f.turn_id = o.turn_id AND f.name = o.name AND f.arguments = o.arguments AND f.status IN ('FAILED', 'DENIED')
WHERE o.turn_id = $1 AND o.id = ANY($2::uuid[])
GROUP BY o.id HAVING count(*) >= $3`;

/** Those among calls of a turn that have failed in it before, with the same arguments and at least this often. */
export async function findRepeatedCalls(
  db: Queryable,
  turnId: string,
  calls: readonly string[],
  failures: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>({ name: 'repeated-calls', text, values: [turnId, calls, failures] });
  return new Set(rows.map((row) => row.id));
}
