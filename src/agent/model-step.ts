import { isDatabaseUnavailable } from '../db/database-errors.js';
import { flushReply } from '../db/queries/flush-reply.js';
import type { StoredToolCall, TurnState } from '../db/queries/owned-turn.js';
import type { SettledCall } from '../db/queries/settled-call.js';
import { storeStep } from '../db/queries/store-step.js';
import { ChatError, type ErrorCode } from '../errors.js';
import type { ContextReport } from '../events/context-report.js';
import type { TurnEventBody } from '../events/event.js';
import type { ModelInfo } from '../model/catalog.js';
import { type CallResult, callModel } from './call-model.js';
import { buildRequest } from './context/build-request.js';
import { contextTraces } from './context/trace.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost } from './ends.js';
import { ReplyWriter } from './reply-writer.js';
import type { RunningTurn } from './running-turn.js';
import { toStoredCalls } from './tool-calls.js';
import { sessionTools } from './tools/session-tools.js';
import { modelCallTrace } from './traces.js';
import type { TurnJournal } from './turn-journal.js';
import { cut, failed, judge, type Verdict } from './verdict.js';

/** What the end of a turn is made of, besides how it ended. */
export interface LastStep {
  readonly writer: ReplyWriter | null;
  readonly model: ModelInfo | null;
  readonly result: CallResult | null;
  /** How its prompt was made up; null when none was. */
  readonly context: ContextReport | null;
}

export type StepOutcome =
  /** The step is stored, and its tools are to be run. */
  | { readonly kind: 'tools'; readonly toolCalls: readonly StoredToolCall[] }
  | { readonly kind: 'last'; readonly verdict: Verdict; readonly last: LastStep };

export const stepEvent = (step: number, { costUsd, estimated, ...call }: SettledCall): TurnEventBody => ({
  type: 'StepCompleted',
  step,
  usage: {
    inputTokens: call.inputTokens,
    cachedInputTokens: call.cachedInputTokens,
    outputTokens: call.outputTokens,
    reasoningTokens: call.reasoningTokens,
    estimated,
  },
  costUsd: Number(costUsd),
});

function codeOf(error: unknown): ErrorCode {
  if (error instanceof ChatError) return error.code;
  return isDatabaseUnavailable(error) ? 'UNAVAILABLE' : 'INTERNAL';
}

/** The writer of a step; a step that is run again goes on with the message that its lost attempt had begun. */
export function openWriter(
  deps: AgentDependencies,
  { facts, log, onLost, onWriter }: RunningTurn,
  step: number,
  partial: TurnState['partial'],
): ReplyWriter {
  const { turnId, epoch } = facts;
  const writer = new ReplyWriter(log, partial?.messageId ?? deps.newId(), step, {
    async store(reply) {
      const isOwn = await flushReply(deps.db, { turnId, epoch, step, ...reply });
      if (isOwn) await deps.failpoint('after-flush');
      else onLost();
    },
    onError: (error) => deps.log.warn({ turnId, err: error }, 'streamed text could not be stored yet'),
  });
  onWriter(writer);
  return writer;
}

/** Stores a step whose reply calls tools. */
async function storeCalls(
  deps: AgentDependencies,
  turn: RunningTurn,
  journal: TurnJournal,
  { writer, model, context }: LastStep & { readonly writer: ReplyWriter; readonly model: ModelInfo },
  { call, toolCalls, attempt, finishReason }: CallResult & { readonly call: SettledCall },
): Promise<readonly StoredToolCall[]> {
  const { turnId, epoch } = turn.facts;
  const { step, messageId, content } = writer;
  const stored = toStoredCalls(deps.newId, toolCalls, messageId, sessionTools(deps.tools, turn.facts));
  const traces = [
    ...contextTraces(context),
    { type: 'MODEL_CALL', data: modelCallTrace(call, model.id, attempt, finishReason) },
  ].map((trace) => ({ id: deps.newId(), ...trace }));
  const storing = journal.write([stepEvent(step, call)], 'after-step', (layout) =>
    storeStep(deps.db, { turnId, epoch, step, messageId, content, call, toolCalls: stored, layout, traces }),
  );
  writer.handOver(storing);
  await storing;
  return stored;
}

const callsTools = ({ toolCalls, finishReason }: CallResult) =>
  toolCalls.length > 0 && (finishReason === 'tool_calls' || finishReason === 'length');

/**
 * One step: asks the model, and judges what it gave. Everything that can go wrong is a verdict.
 *
 * @throws OwnershipLost, and the error of a database that did not take a step with calls of tools.
 */
export async function runModelStep(
  deps: AgentDependencies,
  turn: RunningTurn,
  journal: TurnJournal,
  { step, partial }: Pick<TurnState, 'step' | 'partial'>,
): Promise<StepOutcome> {
  const { facts, signal } = turn;
  const model = deps.findModel(facts.model);
  const writer = openWriter(deps, turn, step, partial);
  let result: CallResult | null = null;
  let context: ContextReport | null = null;
  let verdict: Verdict;
  try {
    if (!model) throw new ChatError('PROVIDER_REFUSED', `The model ${facts.model} is no longer offered here.`);
    const { request, report } = await buildRequest(deps, facts, model);
    context = report;
    if (signal.aborted) {
      verdict = cut(signal.reason);
    } else {
      turn.log.append({ type: 'ContextReported', step, report });
      result = await callModel(deps, { turn: facts, step, model, request, report, writer, signal });
      verdict = judge(result, writer.saysSomething, signal);
    }
  } catch (error) {
    if (error instanceof OwnershipLost) throw error;
    verdict = failed(codeOf(error));
    if (!(error instanceof ChatError)) deps.log.error({ turnId: facts.turnId, err: error }, 'turn failed');
  }
  await writer.close();
  const last = { writer, model, result, context };
  if (signal.reason instanceof OwnershipLost) throw signal.reason;
  if (model && result?.call && callsTools(result)) {
    const { call } = result;
    return { kind: 'tools', toolCalls: await storeCalls(deps, turn, journal, { ...last, model }, { ...result, call }) };
  }
  return { kind: 'last', verdict, last };
}
