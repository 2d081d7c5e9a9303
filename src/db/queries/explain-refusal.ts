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
  readonly budget: {
    readonly maxCostUsd: string | null;
    readonly spentCostUsd: string;
    readonly maxTokens: string | null;
    readonly spentTokens: string;
    readonly exhausted: 'cost' | 'tokens' | null;
  };
}

const text = `
SELECT s.status = 'CLOSED' AS closed, s.model, s.queued_turns,
       CASE WHEN a.status = 'AWAITING_INPUT' THEN (
         SELECT r.id FROM input_requests r WHERE r.turn_id = a.id AND r.status = 'PENDING' ORDER BY r.created_at, r.id LIMIT 1
       ) END AS pending_request_id,
       coalesce(a.id, (SELECT q.id FROM turns q WHERE q.session_id = s.id AND q.status = 'QUEUED' ORDER BY q.number LIMIT 1))
         AS active_turn_id,
       p.id AS prior_id, p.input_digest AS prior_digest,
       b.max_cost_usd, b.spent_cost_usd, b.max_tokens, b.spent_tokens,
       CASE WHEN b.spent_cost_usd + b.held_cost_usd >= b.max_cost_usd THEN 'cost'
            WHEN b.spent_tokens + b.held_tokens >= b.max_tokens THEN 'tokens' END AS exhausted
FROM chat_sessions s
JOIN budgets b ON b.id = s.budget_id
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
  max_cost_usd: string | null;
  spent_cost_usd: string;
  max_tokens: string | null;
  spent_tokens: string;
  exhausted: 'cost' | 'tokens' | null;
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
    budget: {
      maxCostUsd: row.max_cost_usd,
      spentCostUsd: row.spent_cost_usd,
      maxTokens: row.max_tokens,
      spentTokens: row.spent_tokens,
      exhausted: row.exhausted,
    },
  };
}
