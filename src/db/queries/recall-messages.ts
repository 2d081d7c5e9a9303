import type { Queryable } from './queryable.js';

/** A message of an earlier turn. */
export interface RecalledMessage {
  /** Null for a message that was seeded. */
  readonly turn: number | null;
  readonly role: 'USER' | 'ASSISTANT' | 'TOOL';
  readonly content: string;
}

const ofTurn = `
SELECT t.number AS turn, m.role, left(m.content, $4) AS content
FROM turns t JOIN messages m ON m.turn_id = t.id
WHERE t.session_id = $1 AND t.number = $2 AND t.id <> $3 AND m.trimmed_at IS NULL AND m.content <> ''
ORDER BY m.sequence
LIMIT 100`;

/** What was said in a turn of a session, as far as it is in the history; nothing of the turn that asks. */
export async function recallTurn(
  db: Queryable,
  session: { readonly sessionId: string; readonly currentTurnId: string },
  turn: number,
  longest: number,
): Promise<RecalledMessage[]> {
  const { rows } = await db.query<RecalledMessage>({
    name: 'recall-turn',
    text: ofTurn,
    values: [session.sessionId, turn, session.currentTurnId, longest],
  });
  return rows;
}

// The expression and the condition are those of the index.
const byWords = `
SELECT t.number AS turn, m.role, left(m.content, $4) AS content
FROM messages m LEFT JOIN turns t ON t.id = m.turn_id
WHERE m.session_id = $1 AND m.turn_id IS DISTINCT FROM $3::uuid
  AND m.trimmed_at IS NULL AND m.role <> 'TOOL'
  AND to_tsvector('simple', left(m.content, 100000)) @@ websearch_to_tsquery('simple', $2)
ORDER BY m.sequence DESC
LIMIT $5`;

/** The newest messages of user and model in a session's history that hold all of these words. */
export async function recallWords(
  db: Queryable,
  session: { readonly sessionId: string; readonly currentTurnId: string },
  words: string,
  { longest, limit }: { readonly longest: number; readonly limit: number },
): Promise<RecalledMessage[]> {
  const { rows } = await db.query<RecalledMessage>({
    name: 'recall-words',
    text: byWords,
    values: [session.sessionId, words, session.currentTurnId, longest, limit],
  });
  return rows;
}
