import type { SettledCall } from '../db/queries/settled-call.js';

/** Trace data of a model call: figures, no contents. */
export const modelCallTrace = (call: SettledCall, model: string, attempt: number, finishReason: string | null) => ({
  modelCallId: call.id,
  model,
  attempt,
  status: call.status,
  finishReason,
  inputTokens: call.inputTokens,
  cachedInputTokens: call.cachedInputTokens,
  outputTokens: call.outputTokens,
  reasoningTokens: call.reasoningTokens,
  usageEstimated: call.estimated,
  costUsd: Number(call.costUsd),
  latencyMs: call.latencyMs,
  timeToFirstTokenMs: call.timeToFirstTokenMs,
  errorCode: call.errorCode,
});
