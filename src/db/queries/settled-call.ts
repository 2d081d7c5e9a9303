import type { ErrorCode } from '../../errors.js';

/** A ledger row as it is settled: its real or estimated figures. Money is a decimal string in USD. */
export interface SettledCall {
  readonly id: string;
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED';
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly estimated: boolean;
  readonly costUsd: string;
  readonly latencyMs: number;
  readonly timeToFirstTokenMs: number | null;
  readonly errorCode: ErrorCode | null;
  readonly errorRetryable: boolean | null;
}

/** The values $1 to $12 of every statement that books a call; without a call it books nothing. */
export function callValues(call: SettledCall | null): unknown[] {
  return [
    call?.id ?? null,
    call?.status ?? null,
    call?.inputTokens ?? 0,
    call?.cachedInputTokens ?? 0,
    call?.outputTokens ?? 0,
    call?.reasoningTokens ?? 0,
    call?.estimated ?? false,
    call?.costUsd ?? '0',
    call?.latencyMs ?? null,
    call?.timeToFirstTokenMs ?? null,
    call?.errorCode ?? null,
    call?.errorRetryable ?? null,
  ];
}

/** Assignments that add a call's tokens to the sums of a turn or a session. */
export const addTokens = `
      input_tokens = input_tokens + $3::bigint, cached_input_tokens = cached_input_tokens + $4::bigint,
      output_tokens = output_tokens + $5::bigint, reasoning_tokens = reasoning_tokens + $6::bigint,
      usage_estimated = usage_estimated OR $7::boolean`;

/**
 * CTEs that settle the ledger row and charge the budget, in the statement that settles what the call was for. They
 * expect a CTE `session (id, budget_id)`, which is empty when the turn is not this owner's any more.
 */
export const bookCall = `
ledger AS (
  UPDATE model_calls
  SET status = $2::model_call_status, input_tokens = $3::bigint, cached_input_tokens = $4::bigint,
      output_tokens = $5::bigint, reasoning_tokens = $6::bigint, usage_estimated = $7::boolean,
      cost_usd = $8::numeric, latency_ms = $9::int, time_to_first_token_ms = $10::int,
      error_code = $11::text, error_retryable = $12::boolean, held_cost_usd = 0, held_tokens = 0, settled_at = now()
  FROM session WHERE model_calls.id = $1::uuid AND model_calls.status = 'PENDING'
), budget AS (
  UPDATE budgets
  SET spent_cost_usd = spent_cost_usd + $8::numeric, spent_tokens = spent_tokens + $3::bigint + $5::bigint,
      updated_at = now()
  FROM session WHERE budgets.id = session.budget_id AND $1::uuid IS NOT NULL
)`;
