import { type UsedUpLimit, usedUpLimit } from './budgets-of.js';
import type { Queryable } from './queryable.js';

/** The state of a session that let no turn in, as it is now. */
export interface RefusalFacts {
  readonly closed: boolean;
  readonly model: string;
  /** The turn that runs or waits for its user, or else the first of the queue. */
  readonly activeTurnId: string | null;
  readonly queuedTurns: number;
  /** The oldest request that the active turn waits with; null when it does not wait. */
  readonly pendingRequestId: string | null;
  /** The turn that has used the idempotency key. */
  readonly prior: { readonly turnId: string; readonly inputDigest: string } | null;
  /** A limit of which nothing is left; null when there is none. */
  readonly exhausted: UsedUpLimit | null;
}

const text = `
SELECT s.status = 'CLOSED' AS closed, s.model, s.queued_turns,
       CASE WHEN a.status = 'AWAITING_INPUT' THEN (
         SELECT r.id FROM input_requests r WHERE r.turn_id = a.id AND r.status = 'PENDING' ORDER BY r.created_at, r.id LIMIT 1
       ) END AS pending_request_id,
       coalesce(a.id, (SELECT q.id FROM turns q WHERE q.session_id = s.id AND q.status = 'QUEUED' ORDER BY q.number LIMIT 1))
         AS active_turn_id,
       p.id AS prior_id, p.input_digest AS prior_digest,
       ${usedUpLimit({ budget: 's.budget_id', owner: 's.owner', tenant: 's.tenant' }, 's.active_turn_id IS NULL AND s.queued_turns = 0')} AS exhausted
FROM chat_sessions s
LEFT JOIN turns a ON a.id = s.active_turn_id
LEFT JOIN turns p ON p.session_id = s.id AND p.idempotency_key = $4
WHERE s.id = $1 AND s.owner = $2 AND s.tenant = $3`;

interface Row {
  closed: boolean;
  model: string;
  queued_turns: number;
  active_turn_id: string | null;
  pending_request_id: string | null;
  prior_id: string | null;
  prior_digest: string | null;
  exhausted: RefusalFacts['exhausted'];
}

/** Why a session let no turn or seed in; null when it is not there or not the caller's. */
export async function explainRefusal(
  db: Queryable,
  session: { readonly sessionId: string; readonly owner: string; readonly tenant: string },
  idempotencyKey: string | null,
): Promise<RefusalFacts | null> {
  const { rows } = await db.query<Row>({
    name: 'explain-refusal',
    text,
    values: [session.sessionId, session.owner, session.tenant, idempotencyKey],
  });
  const row = rows[0];
  if (!row) return null;
  return {
    closed: row.closed,
    model: row.model,
    activeTurnId: row.active_turn_id,
    queuedTurns: row.queued_turns,
    pendingRequestId: row.pending_request_id,
    prior: row.prior_id && row.prior_digest ? { turnId: row.prior_id, inputDigest: row.prior_digest } : null,
    exhausted: row.exhausted,
  };
}
