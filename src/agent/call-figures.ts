import type { SettledCall } from '../db/queries/settled-call.js';
import type { ErrorCode } from '../errors.js';
import type { ModelInfo } from '../model/catalog.js';
import { costUsd } from '../model/cost.js';
import type { ModelRequest, TokenUsage } from '../model/port.js';
import { estimateUsage } from '../model/tokens.js';

/** What became of one request to the provider. */
export interface CallFacts {
  readonly id: string;
  readonly status: SettledCall['status'];
  /** What the provider reported, if it did. */
  readonly usage: TokenUsage | null;
  /** All that was received, thinking included. */
  readonly output: string;
  readonly startedAt: Date;
  readonly firstTokenAt: Date | null;
  readonly error: { readonly code: ErrorCode; readonly retryable: boolean } | null;
}

const nothing: TokenUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };
/** Failures before which the provider may have worked, and so may bill. */
const perhapsBilled: ReadonlySet<ErrorCode> = new Set(['PROVIDER_TIMEOUT', 'PROVIDER_BAD_RESPONSE', 'INTERRUPTED']);

/**
 * The ledger's figures for a call. Without a report they are estimated and flagged, never zero, unless the provider
 * refused the call before doing anything.
 */
export function settleFigures(call: CallFacts, request: ModelRequest, model: ModelInfo, now: Date): SettledCall {
  const refused = call.error !== null && call.output === '' && !perhapsBilled.has(call.error.code);
  const estimated = call.usage === null && !refused;
  const usage = call.usage ?? (refused ? nothing : estimateUsage(request, call.output));
  return {
    id: call.id,
    status: call.status,
    ...usage,
    estimated,
    costUsd: model.prices ? costUsd(usage, model.prices).toFixed(12) : '0',
    latencyMs: Math.max(0, now.getTime() - call.startedAt.getTime()),
    timeToFirstTokenMs: call.firstTokenAt ? Math.max(0, call.firstTokenAt.getTime() - call.startedAt.getTime()) : null,
    errorCode: call.error?.code ?? null,
    errorRetryable: call.error?.retryable ?? null,
  };
}
