import type { Queryable } from './queryable.js';

/** Something that the model of a session wants to keep in view. */
export interface Pin {
  /** Unique within the session, made from the content. */
  readonly key: string;
  readonly content: string;
}

/** All of a session's pins, oldest first. */
export async function listPins(db: Queryable, sessionId: string): Promise<readonly Pin[]> {
  const { rows } = await db.query<Pin>({
    name: 'list-pins',
    text: `SELECT key, content FROM session_pins WHERE session_id = $1 ORDER BY created_at, key`,
    values: [sessionId],
  });
  return rows;
}

const add = `
INSERT INTO session_pins (session_id, key, content)
SELECT s.id, $2, $3 FROM chat_sessions s
WHERE s.id = $1
  AND (SELECT count(*) < $4 AND coalesce(sum(length(p.content)), 0) + length($3) <= $5
       FROM session_pins p WHERE p.session_id = $1 AND p.key <> $2)
ON CONFLICT (session_id, key) DO NOTHING`;

/** Adds a pin where there is room for it, in characters and in number; one that is there already stays as it is. */
export async function addPin(
  db: Queryable,
  sessionId: string,
  { key, content }: Pin,
  limits: { readonly count: number; readonly characters: number },
): Promise<void> {
  await db.query({ name: 'add-pin', text: add, values: [sessionId, key, content, limits.count, limits.characters] });
}

/** False when there is no such pin. */
export async function removePin(db: Queryable, sessionId: string, key: string): Promise<boolean> {
  const text = `DELETE FROM session_pins WHERE session_id = $1 AND key = $2`;
  const { rowCount } = await db.query({ name: 'remove-pin', text, values: [sessionId, key] });
  return rowCount === 1;
}
