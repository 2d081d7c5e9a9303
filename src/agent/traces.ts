import type { StoredToolCall } from '../db/queries/owned-turn.js';
import type { SettledCall } from '../db/queries/settled-call.js';
import type { ToolResult } from '../db/queries/store-tool-result.js';
import type { ReachedLimit } from '../events/reached-limit.js';
import type { Diagnosis } from './diagnosis/diagnose.js';
import type { Judgement } from './model-step.js';
import type { Verdict } from './verdict.js';

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

/** The trace of how a step was judged. The facts it was judged by stand in the trace of its model call. */
export const assessmentTrace = (step: number, { assessment, goesOn }: Judgement) => ({
  type: 'ASSESSMENT',
  data: { step, ...assessment, goesOn },
});

/** Trace data of a tool call that has ended: no contents. */
export const toolCallTrace = (
  { callId, name }: StoredToolCall,
  { status, result, errorCode, durationMs }: ToolResult,
) => ({
  toolCallId: callId,
  name,
  status,
  errorCode,
  durationMs,
  resultLength: result.length,
});

/** Trace data of what a failed call was taken for. */
export const diagnosisTrace = ({ callId, name }: StoredToolCall, { category, failures, suggestion }: Diagnosis) => ({
  toolCallId: callId,
  name,
  category,
  failures,
  suggestion,
});

interface EndedTurn {
  readonly number: number;
  readonly step: number;
  readonly judgement: Judgement | null;
  readonly verdict: Verdict;
  /** The limit that has ended it, if one has. */
  readonly reached: ReachedLimit | null;
  /** The last call, with its attempt and the reason that the model gave. */
  readonly call: {
    readonly figures: SettledCall;
    readonly model: string;
    readonly attempt: number;
    readonly finishReason: string | null;
  } | null;
}

/** The trace of a turn's end: its last model call and how that was judged, if there was one, and how it ended. */
export const endTraces = ({ number, step, judgement, verdict, reached, call }: EndedTurn) => [
  ...(call
    ? [{ type: 'MODEL_CALL', data: modelCallTrace(call.figures, call.model, call.attempt, call.finishReason) }]
    : []),
  ...(judgement ? [assessmentTrace(step, judgement)] : []),
  ...(reached ? [{ type: 'BUDGET_EXCEEDED', data: reached }] : []),
  {
    type: 'TURN_FINISHED',
    data: { number, status: verdict.status, finishReason: verdict.finishReason, errorCode: verdict.errorCode },
  },
];
