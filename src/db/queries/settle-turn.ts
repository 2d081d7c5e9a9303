import type { ErrorCode } from '../../errors.js';
import type { LayoutEntry } from '../../events/layout.js';
import type { StoredEnd } from '../../events/stored-end.js';
import { type EndRow, endColumns, toStoredEnd } from './end-row.js';
import type { Queryable } from './queryable.js';
import { addTokens, bookCall, callValues, type SettledCall } from './settled-call.js';

/** How a turn ends. */
export interface TurnEnd {
  readonly turnId: string;
  readonly epoch: number;
  readonly status: StoredEnd['turn']['status'];
  readonly finishReason: StoredEnd['turn']['finishReason'];
  readonly errorCode: ErrorCode | null;
  readonly errorRetryable: boolean | null;
  /** What the last step wrote; null when that is nothing. A flush may have inserted it already. */
  readonly reply: {
    readonly messageId: string;
    readonly content: string;
    readonly status: 'COMPLETE' | 'PARTIAL';
    readonly step: number;
  } | null;
  readonly call: SettledCall | null;
  readonly layout: readonly LayoutEntry[];
  /** Sequence of its last event. */
  readonly lastSequence: number;
  readonly traces: readonly { readonly id: string; readonly type: string; readonly data: unknown }[];
}

// One statement ends a turn: a crash leaves it running, to be recovered, or ended with everything that belongs to it.
// Turns that were stopped in the queue meanwhile have numbers behind it already.
const text = `
WITH turn AS (
  UPDATE turns
  SET ${addTokens}, cost_usd = cost_usd + $8::numeric,
      status = $15::turn_status, finish_reason = $16::finish_reason, error_code = $17, error_retryable = $18,
      final_message_id = coalesce($19::uuid, final_message_id), event_layout = $20::jsonb, finished_at = now(),
      lease_owner = NULL, lease_expires_at = NULL
  WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'
  RETURNING session_id, ${endColumns.turn}
), session AS (
  UPDATE chat_sessions s
  SET ${addTokens}, total_cost_usd = total_cost_usd + $8::numeric, active_turn_id = NULL, updated_at = now(),
      last_event_sequence = greatest(last_event_sequence, $27),
      message_count = message_count + added.n, last_message_sequence = last_message_sequence + added.n,
      last_trace_sequence = last_trace_sequence + cardinality($24::uuid[])
  FROM turn, (SELECT CASE WHEN $19::uuid IS NULL OR EXISTS (SELECT FROM messages WHERE id = $19::uuid) THEN 0 ELSE 1 END AS n) AS added
  WHERE s.id = turn.session_id
  RETURNING s.id, s.last_message_sequence, s.last_trace_sequence, s.queued_turns, ${endColumns.session}
), ${bookCall}, reply AS (
  INSERT INTO messages (id, session_id, turn_id, sequence, role, status, content, step)
  SELECT $19::uuid, id, $13, last_message_sequence, 'ASSISTANT', $21::message_status, $22, $23::int
  FROM session WHERE $19::uuid IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET content = excluded.content, status = excluded.status, updated_at = now()
  RETURNING ${endColumns.reply}
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT t.id, session.id, $13, session.last_trace_sequence - cardinality($24::uuid[]) + t.position, t.type, t.data
  FROM session, unnest($24::uuid[], $25::trace_event_type[], $26::jsonb[]) WITH ORDINALITY AS t(id, type, data, position)
)
SELECT session.*, turn.*, reply.* FROM session CROSS JOIN turn LEFT JOIN reply ON true`;

export interface SettledTurn {
  /** Turns that wait in the session's queue: they are for the caller to start. */
  readonly queuedTurns: number;
  readonly stored: StoredEnd;
}

/** Ends a turn and books its last call. Null when the turn is not this owner's any more; then nothing has changed. */
export async function settleTurn(db: Queryable, end: TurnEnd): Promise<SettledTurn | null> {
  const { reply } = end;
  const { rows } = await db.query<EndRow & { queued_turns: number }>({
    name: 'settle-turn',
    text,
    values: [
      ...callValues(end.call),
      end.turnId,
      end.epoch,
      end.status,
      end.finishReason,
      end.errorCode,
      end.errorRetryable,
      reply?.messageId ?? null,
      JSON.stringify(end.layout),
      reply?.status ?? null,
      reply?.content ?? null,
      reply?.step ?? null,
      end.traces.map((trace) => trace.id),
      end.traces.map((trace) => trace.type),
      end.traces.map((trace) => JSON.stringify(trace.data)),
      end.lastSequence,
    ],
  });
  const row = rows[0];
  return row ? { queuedTurns: row.queued_turns, stored: toStoredEnd(end, row) } : null;
}
