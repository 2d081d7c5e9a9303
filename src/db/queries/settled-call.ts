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
 * CTEs that settle the ledger row, charge its budgets and give back what it had reserved there, in the statement that
 * settles what the call was for. They expect a CTE `session`, which is empty when the turn is not this owner's any more.
 * The budgets are locked in the order of their ids, as where calls are opened.
 */
export const bookCall = `
ledger AS (
  UPDATE model_calls
  SET status = $2::model_call_status, input_tokens = $3::bigint, cached_input_tokens = $4::bigint,
      output_tokens = $5::bigint, reasoning_tokens = $6::bigint, usage_estimated = $7::boolean,
      cost_usd = $8::numeric, latency_ms = $9::int, time_to_first_token_ms = $10::int,
      error_code = $11::text, error_retryable = $12::boolean, settled_at = now()
  FROM session WHERE model_calls.id = $1::uuid AND model_calls.status = 'PENDING'
  RETURNING held_by, held_cost_usd, held_tokens
), charged AS (
  SELECT b.id FROM ledger, budgets b WHERE b.id = ANY(ledger.held_by) ORDER BY b.id FOR UPDATE OF b
), budget AS (
  UPDATE budgets b
  SET spent_cost_usd = b.spent_cost_usd + $8::numeric, spent_tokens = b.spent_tokens + $3::bigint + $5::bigint,
      held_cost_usd = b.held_cost_usd - ledger.held_cost_usd, held_tokens = b.held_tokens - ledger.held_tokens,
      updated_at = now()
  FROM ledger, charged WHERE b.id = charged.id
)`;
