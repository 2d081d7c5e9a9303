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

/** What an estimate may come to: what was reserved. Without bounds where that is not known. */
export interface Reserved {
  readonly output?: number;
  /** In and out together. */
  readonly total?: number;
}

function estimate(
  request: ModelRequest,
  text: string,
  { output = Number.POSITIVE_INFINITY, total = Number.POSITIVE_INFINITY }: Reserved,
): TokenUsage {
  const usage = estimateUsage(request, text);
  const outputTokens = Math.min(usage.outputTokens, output);
  return { ...usage, outputTokens, inputTokens: Math.min(usage.inputTokens, total - outputTokens) };
}

/** Clocks jump, and a crashed server may come back after a month: what the column cannot hold is cut to what it can. */
const milliseconds = (from: Date, to: Date) => Math.min(Math.max(0, to.getTime() - from.getTime()), 2_147_483_647);

/**
 * The ledger's figures for a call. Without a report they are estimated and flagged, never zero, unless the provider
 * refused the call before doing anything.
 *
 * @param reserved what was received beyond it is not used, and not charged by an estimate
 */
export function settleFigures(
  call: CallFacts,
  request: ModelRequest,
  model: ModelInfo,
  now: Date,
  reserved: Reserved = {},
): SettledCall {
  const refused = call.error !== null && call.output === '' && !perhapsBilled.has(call.error.code);
  const estimated = call.usage === null && !refused;
  const usage = call.usage ?? (refused ? nothing : estimate(request, call.output, reserved));
  return {
    id: call.id,
    status: call.status,
    ...usage,
    estimated,
    costUsd: model.prices ? costUsd(usage, model.prices).toFixed(12) : '0',
    latencyMs: milliseconds(call.startedAt, now),
    timeToFirstTokenMs: call.firstTokenAt && milliseconds(call.startedAt, call.firstTokenAt),
    errorCode: call.error?.code ?? null,
    errorRetryable: call.error?.retryable ?? null,
  };
}
