import type { Queryable } from './queryable.js';
import { addTokens, bookCall, callValues, type SettledCall } from './settled-call.js';

/** A summary to be told instead of the messages of its range. */
export interface SummaryToStore {
  readonly content: string;
  /** Sequences of the first and the last message that it tells. */
  readonly from: number;
  readonly through: number;
  readonly messages: number;
  readonly sourceTokens: number;
}

// The attempt is noted even when it gave nothing, so that a summary that fails is not paid for again and again. What an
// earlier one has given stays.
const text = `
WITH turn AS (
  UPDATE turns SET ${addTokens}, cost_usd = cost_usd + $8::numeric
  WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'
    AND EXISTS (SELECT FROM model_calls WHERE id = $1::uuid AND model_calls.status = 'PENDING')
  RETURNING session_id, number
), session AS (
  UPDATE chat_sessions s
  SET ${addTokens}, total_cost_usd = total_cost_usd + $8::numeric, last_trace_sequence = last_trace_sequence + 1
  FROM turn WHERE s.id = turn.session_id
  RETURNING s.id, s.last_trace_sequence
), ${bookCall}, summary AS (
  INSERT INTO context_summaries AS c (session_id, attempted_turn, content, from_sequence, through_sequence, message_count, source_tokens)
  SELECT session_id, number, $17, $18::int, $19::int, $20::int, $21::int FROM turn
  ON CONFLICT (session_id) DO UPDATE
  SET attempted_turn = excluded.attempted_turn, updated_at = now(),
      content = coalesce(excluded.content, c.content),
      from_sequence = coalesce(excluded.from_sequence, c.from_sequence),
      through_sequence = coalesce(excluded.through_sequence, c.through_sequence),
      message_count = CASE WHEN excluded.content IS NULL THEN c.message_count ELSE excluded.message_count END,
      source_tokens = CASE WHEN excluded.content IS NULL THEN c.source_tokens ELSE excluded.source_tokens END
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $15, id, $13, last_trace_sequence, 'MODEL_CALL', $16::jsonb FROM session
)
SELECT 1 FROM turns WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'`;

/**
 * Settles a call that was made for a summary, and stores what it gave. False when the turn is not this owner's any more.
 * What was stored although its answer was lost is not booked again.
 */
export async function bookSummary(
  db: Queryable,
  turn: { readonly turnId: string; readonly epoch: number },
  call: SettledCall,
  trace: { readonly id: string; readonly data: unknown },
  summary: SummaryToStore | null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'book-summary',
    text,
    values: [
      ...callValues(call),
      turn.turnId,
      turn.epoch,
      trace.id,
      JSON.stringify(trace.data),
      summary?.content ?? null,
      summary?.from ?? null,
      summary?.through ?? null,
      summary?.messages ?? 0,
      summary?.sourceTokens ?? 0,
    ],
  });
  return rowCount === 1;
}
