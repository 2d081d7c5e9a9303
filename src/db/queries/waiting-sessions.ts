import type { Queryable } from './queryable.js';

const text = `
SELECT DISTINCT t.session_id FROM turns t JOIN chat_sessions s ON s.id = t.session_id
WHERE t.status = 'QUEUED' AND s.active_turn_id IS NULL
LIMIT $1`;

/** Sessions that are free although turns wait in them: whoever freed them has not started the next one. */
export async function findWaitingSessions(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ session_id: string }>({ name: 'find-waiting-sessions', text, values: [limit] });
  return rows.map((row) => row.session_id);
}
