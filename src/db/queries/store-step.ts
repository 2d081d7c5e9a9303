import type { LayoutEntry } from '../../events/layout.js';
import type { StoredToolCall } from './owned-turn.js';
import type { Queryable } from './queryable.js';
import { addTokens, bookCall, callValues, type SettledCall } from './settled-call.js';

/** A model call that is followed by its tools or by another call. */
export interface StepToStore {
  readonly turnId: string;
  readonly epoch: number;
  readonly step: number;
  readonly messageId: string;
  /** What the model said beside its calls; may be empty. */
  readonly content: string;
  /** STREAMING while the message goes on in the next step. */
  readonly status: 'COMPLETE' | 'STREAMING';
  readonly call: SettledCall;
  readonly toolCalls: readonly StoredToolCall[];
  readonly layout: readonly LayoutEntry[];
  readonly traces: readonly { readonly id: string; readonly type: string; readonly data: unknown }[];
}

// The places behind the message are kept free for the results, so that they stand in the order of their calls, whichever
// ends first.
const text = `
WITH turn AS (
  UPDATE turns
  SET ${addTokens}, cost_usd = cost_usd + $8::numeric, event_layout = $15::jsonb,
      tool_calls_made = tool_calls_made + cardinality($19::uuid[]),
      final_message_id = CASE WHEN btrim($17, E' \\t\\r\\n') = '' THEN final_message_id ELSE $16::uuid END
  WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'
    AND EXISTS (SELECT FROM model_calls WHERE id = $1::uuid AND model_calls.status = 'PENDING')
  RETURNING session_id
), session AS (
  UPDATE chat_sessions s
  SET ${addTokens}, total_cost_usd = total_cost_usd + $8::numeric, message_count = message_count + added.n,
      last_message_sequence = last_message_sequence + added.n + cardinality($19::uuid[]),
      last_trace_sequence = last_trace_sequence + cardinality($24::uuid[])
  FROM turn, (SELECT CASE WHEN EXISTS (SELECT FROM messages WHERE id = $16::uuid) THEN 0 ELSE 1 END AS n) AS added
  WHERE s.id = turn.session_id
  RETURNING s.id, s.last_message_sequence, s.last_trace_sequence
), ${bookCall}, message AS (
  INSERT INTO messages (id, session_id, turn_id, sequence, role, status, content, step)
  SELECT $16::uuid, id, $13, last_message_sequence - cardinality($19::uuid[]), 'ASSISTANT', $27::message_status, $17, $18::int FROM session
  ON CONFLICT (id) DO UPDATE SET content = excluded.content, status = excluded.status, updated_at = now()
), tool_call AS (
  INSERT INTO tool_calls (id, session_id, turn_id, message_id, position, call_id, name, arguments, idempotent)
  SELECT t.id, session.id, $13, $16::uuid, t.position - 1, t.call_id, t.name, t.arguments, t.idempotent
  FROM session, unnest($19::uuid[], $20::text[], $21::text[], $22::jsonb[], $23::boolean[])
    WITH ORDINALITY AS t(id, call_id, name, arguments, idempotent, position)
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT t.id, session.id, $13, session.last_trace_sequence - cardinality($24::uuid[]) + t.position, t.type, t.data
  FROM session, unnest($24::uuid[], $25::trace_event_type[], $26::jsonb[]) WITH ORDINALITY AS t(id, type, data, position)
)
SELECT 1 FROM turns WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'`;

/**
 * Stores a step that is followed by another, and books its call. False when the turn is not this owner's any more. What
 * was stored although its answer was lost is not stored again.
 */
export async function storeStep(db: Queryable, step: StepToStore): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'store-step',
    text,
    values: [
      ...callValues(step.call),
      step.turnId,
      step.epoch,
      JSON.stringify(step.layout),
      step.messageId,
      step.content,
      step.step,
      step.toolCalls.map((call) => call.id),
      step.toolCalls.map((call) => call.callId),
      step.toolCalls.map((call) => call.name),
      step.toolCalls.map((call) => JSON.stringify(call.arguments)),
      step.toolCalls.map((call) => call.idempotent),
      step.traces.map((trace) => trace.id),
      step.traces.map((trace) => trace.type),
      step.traces.map((trace) => JSON.stringify(trace.data)),
      step.status,
    ],
  });
  return rowCount === 1;
}
