import { type AcceptedRow, type AcceptedTurn, startLayout, toAcceptedTurn } from './accept-turn.js';
import { type UsedUpLimit, usedUpLimit } from './budgets-of.js';
import type { Queryable } from './queryable.js';
import { factColumns } from './turn-facts.js';

export interface Promotion {
  readonly sessionId: string;
  readonly leaseOwner: string;
  readonly leaseMs: number;
  readonly startedAt: Date;
  readonly traceId: string;
}

/** A turn that has left the queue, and what has become of its session while it waited. */
export interface PromotedTurn {
  readonly turn: AcceptedTurn;
  readonly isClosed: boolean;
  /** A limit of which nothing is left; null when there is none. */
  readonly usedUp: UsedUpLimit | null;
}

// The turn is locked before its session, as everywhere, and the lock sees whether it still waits: one that was started or
// stopped meanwhile is passed over. Numbers are given under the lock of the session, so the lowest that waits is the
// oldest. A message's length is counted in UTF-16 units, as in the trace of a turn that did not wait.
const text = `
WITH next AS (
  SELECT id, number, user_message_id, input_digest FROM turns
  WHERE session_id = $1 AND status = 'QUEUED' ORDER BY number LIMIT 1 FOR UPDATE
), session AS (
  UPDATE chat_sessions s
  SET active_turn_id = next.id, queued_turns = queued_turns - 1, message_count = message_count + 1,
      last_message_sequence = last_message_sequence + 1, last_trace_sequence = last_trace_sequence + 1,
      updated_at = now()
  FROM next WHERE s.id = $1 AND s.active_turn_id IS NULL
  RETURNING s.*, next.number, next.user_message_id, next.input_digest AS message_digest
), turn AS (
  UPDATE turns
  SET status = 'RUNNING', lease_owner = $2, lease_epoch = 1, lease_expires_at = now() + $3::int * interval '1 millisecond',
      attempts = 1, started_at = now(), event_base = session.last_event_sequence, event_layout = $4::jsonb
  FROM session WHERE turns.id = session.active_turn_id
), message AS (
  UPDATE messages SET sequence = session.last_message_sequence, trimmed_at = NULL, updated_at = now()
  FROM session WHERE messages.id = session.user_message_id
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $5, session.id, active_turn_id, last_trace_sequence, 'TURN_STARTED', jsonb_build_object(
    'messageDigest', left(message_digest, 16),
    'messageLength', length(m.content) + length(regexp_replace(m.content, '[\\u0001-\\uFFFF]+', '', 'g')),
    'images', (SELECT count(*) FROM message_images i WHERE i.message_id = m.id))
  FROM session JOIN messages m ON m.id = session.user_message_id
)
SELECT active_turn_id AS turn_id, session.number, last_event_sequence AS event_base, session.status = 'CLOSED' AS is_closed,
       ${usedUpLimit({ budget: 'session.budget_id', owner: 'session.owner', tenant: 'session.tenant' }, 'true')} AS used_up,
       session.owner, session.tenant, ${factColumns}
FROM session`;

interface Row extends AcceptedRow {
  readonly owner: string;
  readonly tenant: string;
  readonly turn_id: string;
  readonly is_closed: boolean;
  readonly used_up: UsedUpLimit | null;
}

/** Begins the first turn of a session's queue, under this owner. Null when none waits, or another turn is active. */
export async function promoteTurn(db: Queryable, promotion: Promotion): Promise<PromotedTurn | null> {
  const { sessionId, startedAt } = promotion;
  const { rows } = await db.query<Row>({
    name: 'promote-turn',
    text,
    values: [sessionId, promotion.leaseOwner, promotion.leaseMs, startLayout(startedAt), promotion.traceId],
  });
  const row = rows[0];
  if (!row) return null;
  return {
    turn: toAcceptedTurn({ sessionId, turnId: row.turn_id, startedAt, owner: row.owner, tenant: row.tenant }, row),
    isClosed: row.is_closed,
    usedUp: row.used_up,
  };
}
