import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

/** What a running turn has written so far. */
export interface ReplyToFlush {
  readonly turnId: string;
  readonly epoch: number;
  readonly messageId: string;
  readonly content: string;
  readonly step: number;
  /** True when an earlier flush has inserted the message. */
  readonly stored: boolean;
  readonly layout: readonly LayoutEntry[];
}

const text = `
WITH turn AS (
  UPDATE turns SET event_layout = $6::jsonb
  WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING'
  RETURNING session_id
), session AS (
  UPDATE chat_sessions s
  SET message_count = message_count + $7::int, last_message_sequence = last_message_sequence + $7::int
  FROM turn WHERE s.id = turn.session_id
  RETURNING s.id, s.last_message_sequence
)
INSERT INTO messages (id, session_id, turn_id, sequence, role, status, content, step)
SELECT $3, id, $1, last_message_sequence, 'ASSISTANT', 'STREAMING', $4, $5 FROM session
ON CONFLICT (id) DO UPDATE SET content = excluded.content, updated_at = now()`;

/** Stores the text of a reply that is being written. False when the turn is not this owner's any more. */
export async function flushReply(db: Queryable, reply: ReplyToFlush): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'flush-reply',
    text,
    values: [
      reply.turnId,
      reply.epoch,
      reply.messageId,
      reply.content,
      reply.step,
      JSON.stringify(reply.layout),
      reply.stored ? 0 : 1,
    ],
  });
  return rowCount === 1;
}
