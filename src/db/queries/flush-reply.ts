import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

/** What a running turn has written so far. */
export interface ReplyToFlush {
  readonly turnId: string;
  readonly epoch: number;
  readonly messageId: string;
  /** Null while it says nothing: then only the layout is stored. */
  readonly content: string | null;
  readonly step: number;
  readonly layout: readonly LayoutEntry[];
}

// Whether the message is there already is read in the statement itself: an earlier flush may have been stored although
// its answer was lost, and counting it twice would leave the session's numbers wrong for ever.
const text = `
WITH turn AS (
  UPDATE turns SET event_layout = $6::jsonb
  WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING'
  RETURNING session_id
), session AS (
  UPDATE chat_sessions s
  SET message_count = message_count + added.n, last_message_sequence = last_message_sequence + added.n
  FROM turn, (SELECT CASE WHEN $4::text IS NULL OR EXISTS (SELECT FROM messages WHERE id = $3) THEN 0 ELSE 1 END AS n) AS added
  WHERE s.id = turn.session_id
  RETURNING s.id, s.last_message_sequence
), message AS (
  INSERT INTO messages (id, session_id, turn_id, sequence, role, status, content, step)
  SELECT $3, id, $1, last_message_sequence, 'ASSISTANT', 'STREAMING', $4, $5 FROM session WHERE $4::text IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET content = excluded.content, updated_at = now()
)
SELECT 1 FROM session`;

/** Stores the text of a reply that is being written. False when the turn is not this owner's any more. */
export async function flushReply(db: Queryable, reply: ReplyToFlush): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'flush-reply',
    text,
    values: [reply.turnId, reply.epoch, reply.messageId, reply.content, reply.step, JSON.stringify(reply.layout)],
  });
  return rowCount === 1;
}
