import { type HistoryMessage, type MessageRow, messageColumns, toHistoryMessage } from './load-history.js';
import type { Queryable } from './queryable.js';

/** What a shortened prompt begins with. */
export interface Anchors {
  /** Messages in the history now, but for one that is being written. */
  readonly messageCount: number;
  /** The oldest message of the user; null when the history has none. */
  readonly firstRequest: HistoryMessage | null;
  readonly summary: {
    readonly content: string;
    readonly from: number;
    readonly through: number;
    readonly messages: number;
    readonly sourceTokens: number;
  } | null;
  /** Number of the turn that last asked for a summary, with or without success; null when none has. */
  readonly attemptedTurn: number | null;
}

// A summary is deleted together with the first message that it tells; that its last one is still there is looked at all the
// same, since a summary of what is gone must never be told.
const text = `
SELECT s.message_count - (
         SELECT count(*)::int FROM messages o WHERE o.turn_id = s.active_turn_id AND o.status = 'STREAMING') AS message_count,
       c.attempted_turn, c.message_count AS told, c.source_tokens,
       CASE WHEN l.id IS NOT NULL THEN c.content END AS summary, c.from_sequence, c.through_sequence, f.*
FROM chat_sessions s
LEFT JOIN context_summaries c ON c.session_id = s.id
LEFT JOIN messages l ON l.session_id = s.id AND l.sequence = c.through_sequence AND l.trimmed_at IS NULL
LEFT JOIN LATERAL (
  SELECT ${messageColumns}
  FROM messages m
  WHERE m.session_id = s.id AND m.trimmed_at IS NULL AND m.role = 'USER'
  ORDER BY m.sequence LIMIT 1
) AS f ON true
WHERE s.id = $1`;

interface Row extends Omit<MessageRow, 'id'> {
  id: string | null;
  message_count: number;
  attempted_turn: number | null;
  told: number | null;
  source_tokens: number | null;
  summary: string | null;
  from_sequence: number | null;
  through_sequence: number | null;
}

export async function loadAnchors(db: Queryable, sessionId: string): Promise<Anchors> {
  const { rows } = await db.query<Row>({ name: 'load-anchors', text, values: [sessionId] });
  const row = rows[0];
  if (!row) return { messageCount: 0, firstRequest: null, summary: null, attemptedTurn: null };
  const { id, summary, from_sequence: from, through_sequence: through } = row;
  return {
    messageCount: row.message_count,
    firstRequest: id === null ? null : toHistoryMessage({ ...row, id }),
    summary:
      summary === null || from === null || through === null
        ? null
        : { content: summary, from, through, messages: row.told ?? 0, sourceTokens: row.source_tokens ?? 0 },
    attemptedTurn: row.attempted_turn,
  };
}
