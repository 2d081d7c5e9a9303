import { bookFailedCall } from '../db/queries/book-failed-call.js';
import type { SettledCall } from '../db/queries/settled-call.js';
import type { TurnFacts } from '../db/queries/turn-facts.js';
import type { ErrorCode } from '../errors.js';
import type { ContextReport } from '../events/context-report.js';
import type { ModelInfo } from '../model/catalog.js';
import {
  ModelError,
  type ModelFinishReason,
  type ModelRequest,
  type ModelToolCall,
  type TokenUsage,
} from '../model/port.js';
import { retryDelayMs, wait } from '../model/retry.js';
import { settleFigures } from './call-figures.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost } from './ends.js';
import { type BudgetStop, openCall, stopBy } from './open-call.js';
import { patiently } from './patience.js';
import type { ReplyWriter } from './reply-writer.js';
import { ReservedOutput } from './reserved-output.js';
import { modelCallTrace } from './traces.js';
import { worstCase } from './worst-case.js';

/** How the last attempt of a step went. The call is settled by whoever ends the step, in its own statement. */
export interface CallResult {
  readonly call: SettledCall | null;
  readonly attempt: number;
  readonly finishReason: ModelFinishReason | null;
  /** Only together with a finish reason. */
  readonly toolCalls: readonly ModelToolCall[];
  readonly error: { readonly code: ErrorCode; readonly retryable: boolean } | null;
  /** What stood against the call, or has cut its reply short; null when no budget did. */
  readonly budget: BudgetStop | null;
}

interface Attempt extends CallResult {
  /** Whether the provider had begun to give anything, tool calls included. */
  readonly hasOutput: boolean;
  readonly modelError: ModelError | null;
}

interface Step {
  readonly turn: TurnFacts;
  readonly step: number;
  readonly model: ModelInfo;
  readonly request: ModelRequest;
  readonly report: ContextReport;
  readonly writer: ReplyWriter;
  readonly signal: AbortSignal;
}

const nothingMade = { call: null, finishReason: null, toolCalls: [], error: null, budget: null } as const;

function failure(deps: AgentDependencies, { turn, model }: Step, error: unknown): Attempt['error'] & object {
  if (error instanceof ModelError) {
    deps.log.warn({ turnId: turn.turnId, model: model.id, code: error.code, ...error.facts }, 'model call failed');
    return { code: error.code, retryable: error.retryable };
  }
  deps.log.error({ turnId: turn.turnId, model: model.id, err: error }, 'fault while reading a model call');
  return { code: 'INTERNAL', retryable: false };
}

async function attemptCall(deps: AgentDependencies, step: Step, attempt: number): Promise<Attempt> {
  const { writer, signal, turn, model, report } = step;
  const row = { step: step.step, attempt, purpose: 'ANSWER', contextReport: report } as const;
  const promptTokens = report.systemTokens + report.toolTokens + report.historyTokens;
  const worst = worstCase(model, step.request, promptTokens);
  const opening = await openCall(deps, turn, model, worst, row);
  if (opening.kind === 'refused') {
    return { ...nothingMade, attempt, budget: opening.by, modelError: null, hasOutput: false };
  }
  const { id, outputTokens, cutBy } = opening;
  // Models keep to their own limit without being told. Servers that count prompt and output together take no risk of it.
  const maxOutputTokens = cutBy ? outputTokens : step.request.maxOutputTokens;
  const request: ModelRequest = { ...step.request, maxOutputTokens };
  const isTold = maxOutputTokens !== null;
  const reserved = new ReservedOutput(deps, turn, {
    id,
    inputTokens: worst.inputTokens,
    outputTokens,
    mayGrow: !isTold,
  });
  await deps.failpoint('after-open-call');
  const startedAt = deps.now();
  let firstTokenAt: Date | null = null;
  let usage: TokenUsage | null = null;
  let finishReason: ModelFinishReason | null = null;
  let error: Attempt['error'] = null;
  let modelError: ModelError | null = null;
  const toolCalls: ModelToolCall[] = [];
  let callText = '';
  let isAnswering = false;
  // What came beyond that: not used, but made.
  let excess = '';
  const received = () => writer.thinking + writer.written + callText;
  try {
    for await (const event of deps.model.stream(request, signal)) {
      if (!isAnswering) {
        isAnswering = true;
        await deps.failpoint('after-request-sent');
      }
      if ('text' in event) {
        firstTokenAt ??= deps.now();
        const taken = reserved.take(event.text, received);
        const text = typeof taken === 'string' ? taken : await taken;
        if (event.type === 'tool_call_delta') callText += text;
        else if (text !== '' && event.type === 'text') writer.text(text);
        else if (text !== '') writer.thought(text);
        excess = event.text.slice(text.length);
        if (excess !== '') break;
      } else if (event.type === 'tool_call') toolCalls.push(event.call);
      else if (event.type === 'usage') usage = event.usage;
      else finishReason = event.reason;
    }
  } catch (caught) {
    if (!signal.aborted) {
      modelError = caught instanceof ModelError ? caught : null;
      error = failure(deps, step, caught);
    }
  }
  const isTooMuch = excess !== '';
  const isAborted = isTooMuch || (signal.aborted && finishReason === null);
  const status = isAborted ? 'ABORTED' : error ? 'FAILED' : 'SUCCEEDED';
  if (isTooMuch) finishReason = 'length';
  // One that nothing had limited may be limited by now.
  const stoppedBy = reserved.stoppedBy && stopBy(reserved.stoppedBy, model, worst);
  const budget = cutBy ? (finishReason === 'length' ? cutBy : null) : isTooMuch ? stoppedBy : null;
  const output = received() + excess;
  const facts = { id, status, usage, output, startedAt, firstTokenAt, error } as const;
  return {
    call: settleFigures(facts, request, step.model, deps.now(), { output: reserved.tokens }),
    attempt,
    budget,
    finishReason,
    toolCalls: finishReason === null ? [] : toolCalls,
    error,
    modelError,
    hasOutput: output !== '',
  };
}

/**
 * Makes the model call of a step, again after failures that a retry may help, as long as nothing was received. Every
 * attempt has its own ledger row, written before its request.
 *
 * @throws OwnershipLost when the turn was taken over, and the error of a database that stayed away.
 */
export async function callModel(deps: AgentDependencies, step: Step): Promise<CallResult> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await attemptCall(deps, step, attempt);
    const { modelError, call, hasOutput } = result;
    const delay =
      call !== null && modelError?.retryable && !hasOutput && attempt <= deps.maxRetries && !step.signal.aborted
        ? retryDelayMs(modelError, attempt, deps.random())
        : null;
    if (call === null || delay === null) return result;
    const trace = { id: deps.newId(), data: modelCallTrace(call, step.model.id, attempt, null) };
    const booked = await patiently(deps, step.turn.turnId, 'a failed model call could not be booked yet', () =>
      bookFailedCall(deps.db, step.turn, call, trace),
    );
    if (!booked) throw new OwnershipLost();
    try {
      await wait(delay, step.signal);
    } catch {
      return { ...nothingMade, attempt };
    }
  }
}
