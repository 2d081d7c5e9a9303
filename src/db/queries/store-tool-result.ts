import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

/** How a tool call ended. */
export interface ToolResult {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'DENIED' | 'INTERRUPTED';
  /** What the model is told. */
  readonly result: string;
  /** Null when it succeeded. */
  readonly errorCode: string | null;
  /** Null: the time since it was begun, or none when it never was. */
  readonly durationMs: number | null;
}

export interface ToolResultToStore extends ToolResult {
  readonly turnId: string;
  readonly epoch: number;
  readonly toolCallId: string;
  /** Of the message that tells the model. */
  readonly messageId: string;
  readonly layout: readonly LayoutEntry[];
  readonly traces: readonly { readonly id: string; readonly type: string; readonly data: unknown }[];
  /** Of the trace of a request that is withdrawn because its call ends without it. */
  readonly withdrawalTraceId: string;
}

// Storing a result twice changes nothing, so a statement whose answer was lost can be repeated.
const text = `
WITH turn AS (
  UPDATE turns SET event_layout = $4::jsonb WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING' RETURNING id
), call AS (
  UPDATE tool_calls c
  SET status = $5::tool_call_status, result = $6, error_code = $7, finished_at = now(),
      duration_ms = CASE WHEN $8::int IS NOT NULL THEN $8::int
                         WHEN c.started_at IS NOT NULL THEN least(extract(epoch FROM now() - c.started_at) * 1000, 2147483647)::int END
  FROM turn WHERE c.id = $3 AND c.turn_id = turn.id AND c.finished_at IS NULL
  RETURNING c.id, c.session_id, c.message_id, c.position, c.call_id
), withdrawn AS (
  UPDATE input_requests r SET status = 'CANCELLED', resolved_at = now()
  FROM call WHERE r.tool_call_id = call.id AND r.status = 'PENDING'
  RETURNING r.id, r.kind
), session AS (
  UPDATE chat_sessions s
  SET message_count = message_count + 1, last_trace_sequence = last_trace_sequence + cardinality($10::uuid[]) + (SELECT count(*)::int FROM withdrawn)
  FROM call WHERE s.id = call.session_id
  RETURNING s.id, s.last_trace_sequence
), message AS (
  INSERT INTO messages (id, session_id, turn_id, sequence, role, content, step, tool_call_id)
  SELECT $9, call.session_id, $1, m.sequence + 1 + call.position, 'TOOL', $6, m.step, call.call_id
  FROM call JOIN messages m ON m.id = call.message_id
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT t.id, session.id, $1::uuid, last_trace_sequence - cardinality($10::uuid[]) + t.position, t.type, t.data
  FROM session, unnest($10::uuid[], $11::trace_event_type[], $13::jsonb[]) WITH ORDINALITY AS t(id, type, data, position)
  UNION ALL
  SELECT $12::uuid, session.id, $1::uuid, last_trace_sequence - cardinality($10::uuid[]), 'INPUT_RESOLVED',
         jsonb_build_object('requestId', withdrawn.id, 'kind', withdrawn.kind, 'status', 'CANCELLED')
  FROM session, withdrawn
)
SELECT 1 FROM turn`;

/** Ends a tool call, with the message that answers it. False when the turn is not this owner's any more. */
export async function storeToolResult(db: Queryable, result: ToolResultToStore): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'store-tool-result',
    text,
    values: [
      result.turnId,
      result.epoch,
      result.toolCallId,
      JSON.stringify(result.layout),
      result.status,
      result.result,
      result.errorCode,
      result.durationMs,
      result.messageId,
      result.traces.map((trace) => trace.id),
      result.traces.map((trace) => trace.type),
      result.withdrawalTraceId,
      result.traces.map((trace) => JSON.stringify(trace.data)),
    ],
  });
  return rowCount === 1;
}
