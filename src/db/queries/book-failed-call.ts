import type { Queryable } from './queryable.js';
import { addTokens, bookCall, callValues, type SettledCall } from './settled-call.js';

const text = `
WITH turn AS (
  UPDATE turns SET ${addTokens}, cost_usd = cost_usd + $8::numeric
  WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'
    AND EXISTS (SELECT FROM model_calls WHERE id = $1::uuid AND model_calls.status = 'PENDING')
  RETURNING session_id
), session AS (
  UPDATE chat_sessions s
  SET ${addTokens}, total_cost_usd = total_cost_usd + $8::numeric, last_trace_sequence = last_trace_sequence + 1
  FROM turn WHERE s.id = turn.session_id
  RETURNING s.id, s.last_trace_sequence
), ${bookCall}, trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $15, id, $13, last_trace_sequence, 'MODEL_CALL', $16::jsonb FROM session
)
SELECT 1 FROM turns WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'`;

/**
 * Settles a call that failed while its turn goes on with another attempt. False when the turn is not the owner's. What
 * was stored although its answer was lost is not booked again.
 */
export async function bookFailedCall(
  db: Queryable,
  turn: { readonly turnId: string; readonly epoch: number },
  call: SettledCall,
  trace: { readonly id: string; readonly data: unknown },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'book-failed-call',
    text,
    values: [...callValues(call), turn.turnId, turn.epoch, trace.id, JSON.stringify(trace.data)],
  });
  return rowCount === 1;
}
