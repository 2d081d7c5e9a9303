import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';
import { addTokens, bookCall, callValues, type SettledCall } from './settled-call.js';

/** What a process leaves of a turn that it hands over. */
export interface TurnToRelease {
  readonly turnId: string;
  readonly epoch: number;
  /** The call that had to be cut, if there was one. */
  readonly call: SettledCall | null;
  readonly layout: readonly LayoutEntry[];
  readonly trace: { readonly id: string; readonly data: unknown } | null;
}

// The lease is over at once, so that whoever looks next takes the turn up. What was no crash does not count as an attempt.
const text = `
WITH turn AS (
  UPDATE turns
  SET ${addTokens}, cost_usd = cost_usd + $8::numeric, event_layout = $15::jsonb,
      lease_owner = NULL, lease_expires_at = now(), attempts = attempts - 1
  WHERE id = $13 AND lease_epoch = $14 AND status = 'RUNNING'
  RETURNING session_id
), session AS (
  UPDATE chat_sessions s
  SET ${addTokens}, total_cost_usd = total_cost_usd + $8::numeric,
      last_trace_sequence = last_trace_sequence + CASE WHEN $16::uuid IS NULL THEN 0 ELSE 1 END
  FROM turn WHERE s.id = turn.session_id
  RETURNING s.id, s.last_trace_sequence
), ${bookCall}, trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $16::uuid, id, $13, last_trace_sequence, 'MODEL_CALL', $17::jsonb FROM session WHERE $16::uuid IS NOT NULL
)
SELECT 1 FROM session`;

/** Hands a running turn over to any process. False when it is not this owner's any more. */
export async function releaseTurn(db: Queryable, turn: TurnToRelease): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'release-turn',
    text,
    values: [
      ...callValues(turn.call),
      turn.turnId,
      turn.epoch,
      JSON.stringify(turn.layout),
      turn.trace?.id ?? null,
      turn.trace && JSON.stringify(turn.trace.data),
    ],
  });
  return rowCount === 1;
}
