import { isDatabaseUnavailable } from '../db/database-errors.js';
import { flushReply } from '../db/queries/flush-reply.js';
import type { SettledCall } from '../db/queries/settled-call.js';
import { storeStep } from '../db/queries/store-step.js';
import { ChatError, type ErrorCode } from '../errors.js';
import type { GoesOn, StepAssessment, TurnEventBody } from '../events/event.js';
import type { ModelInfo } from '../model/catalog.js';
import { assess } from './assessment/assess.js';
import { goesOnFor, promptTail } from './assessment/next-step.js';
import { type CallResult, callModel } from './call-model.js';
import { type BuiltRequest, buildRequest } from './context/build-request.js';
import { makeSummary } from './context/make-summary.js';
import { contextTraces } from './context/trace.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost } from './ends.js';
import { patientReads } from './patience.js';
import { ReplyWriter } from './reply-writer.js';
import type { RunningTurn } from './running-turn.js';
import { toStoredCalls } from './tool-calls.js';
import { callableTools } from './tools/find-tools.js';
import { assessmentTrace, modelCallTrace } from './traces.js';
import type { TurnJournal } from './turn-journal.js';
import type { PartialMessage, TurnState } from './turn-state.js';
import { cut, cutShort, draftStands, failed, judge, type Verdict } from './verdict.js';

/** What the end of a turn is made of, besides how it ended. */
export interface LastStep {
  readonly writer: ReplyWriter | null;
  readonly model: ModelInfo | null;
  readonly result: CallResult | null;
  /** How its prompt was made up; null when none was. */
  readonly context: Pick<BuiltRequest, 'report' | 'decisions'> | null;
  /** Of the model's reply, when it gave one with a finish reason. */
  readonly judgement: Judgement | null;
}

/** How a reply was judged, and what follows from it for the turn. */
export interface Judgement {
  readonly assessment: StepAssessment;
  readonly goesOn: GoesOn | null;
}

export type StepOutcome =
  /** The step is stored. Its tools are to be run, or the model is to be asked again. */
  | ({ readonly kind: 'stored' } & Pick<TurnState, 'toolCalls' | 'goesOn' | 'partial'>)
  | { readonly kind: 'last'; readonly verdict: Verdict; readonly last: LastStep };

export const stepEvent = (
  step: number,
  { costUsd, estimated, ...call }: SettledCall,
  { assessment, goesOn }: Judgement,
): TurnEventBody => ({
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
  assessment,
  goesOn,
});

const codeOf = (error: unknown): ErrorCode => (error instanceof ChatError ? error.code : 'INTERNAL');

/** The writer of a step, which goes on with the message that the step before or a lost attempt had begun. */
export function openWriter(
  deps: AgentDependencies,
  { facts, log, onLost, onWriter }: RunningTurn,
  step: number,
  partial: PartialMessage | null,
): ReplyWriter {
  const { turnId, epoch } = facts;
  const writer = new ReplyWriter(log, partial?.messageId ?? deps.newId(), step, {
    base: partial?.kept ?? '',
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

/** Stores a step that is followed by another. */
async function store(
  deps: AgentDependencies,
  turn: RunningTurn,
  journal: TurnJournal,
  last: LastStep & { readonly writer: ReplyWriter; readonly model: ModelInfo; readonly judgement: Judgement },
  { call, toolCalls, attempt, finishReason }: CallResult & { readonly call: SettledCall },
): Promise<StepOutcome> {
  const { turnId, epoch } = turn.facts;
  const { writer, model, judgement, context } = last;
  const { step, messageId, content } = writer;
  const { goesOn } = judgement;
  const stored =
    goesOn === null ? toStoredCalls(deps.newId, toolCalls, messageId, callableTools(deps.tools, turn.facts)) : [];
  const traces = [
    ...contextTraces(context),
    { type: 'MODEL_CALL', data: modelCallTrace(call, model.id, attempt, finishReason) },
    assessmentTrace(step, judgement),
  ].map((trace) => ({ id: deps.newId(), ...trace }));
  const storing = journal.write([stepEvent(step, call, judgement)], 'after-step', (layout) =>
    storeStep(deps.db, {
      turnId,
      epoch,
      step,
      messageId,
      content,
      // Of an answer that goes on, only a part is written.
      status: goesOn === 'length' ? 'STREAMING' : 'COMPLETE',
      call,
      toolCalls: stored,
      layout,
      traces,
    }),
  );
  writer.handOver(storing);
  await storing;
  const partial = goesOn === 'length' ? { messageId, kept: content, lost: '' } : null;
  return { kind: 'stored', toolCalls: stored, goesOn, partial };
}

const callsTools = ({ toolCalls, finishReason, budget }: CallResult) =>
  budget === null && toolCalls.length > 0 && (finishReason === 'tool_calls' || finishReason === 'length');

function judgeReply(
  { facts }: RunningTurn,
  { hasVerified }: TurnState,
  writer: ReplyWriter,
  result: CallResult,
): Judgement {
  const assessment = assess({
    finishReason: result.finishReason,
    saysSomething: writer.saysSomething,
    callsTools: callsTools(result),
    thinking: writer.thinking,
  });
  const mayGoOn = writer.step < facts.maxSteps && result.budget === null;
  return {
    assessment,
    goesOn: goesOnFor(assessment, { mayGoOn, hasVerified, isLengthWanted: facts.maxOutputTokens !== null }),
  };
}

/**
 * One step: asks the model, and judges what it gave. Everything that can go wrong is a verdict.
 *
 * @throws OwnershipLost, and the error of a database that stayed away, or did not take a step that is followed by another.
 */
export async function runModelStep(
  deps: AgentDependencies,
  turn: RunningTurn,
  journal: TurnJournal,
  state: TurnState,
): Promise<StepOutcome> {
  const { facts, signal } = turn;
  const step = state.step + 1;
  const model = deps.findModel(facts.model);
  const writer = openWriter(deps, turn, step, state.partial);
  let result: CallResult | null = null;
  let context: BuiltRequest | null = null;
  let verdict: Verdict;
  try {
    if (!model) throw new ChatError('PROVIDER_REFUSED', `The model ${facts.model} is no longer offered here.`);
    const tail = promptTail(state.goesOn, state.partial?.kept ?? '');
    const reads = { ...deps, db: patientReads(deps, facts.turnId) };
    context = await buildRequest(reads, facts, model, tail, (history, source) =>
      makeSummary(deps, turn, step, model, history, source),
    );
    const { request, report } = context;
    if (signal.aborted) {
      verdict = cut(signal.reason);
    } else {
      turn.log.append({ type: 'ContextReported', step, report });
      result = await callModel(deps, { turn: facts, step, model, request, report, writer, signal });
      verdict = judge(result, step, writer.saysSomething, signal);
    }
  } catch (error) {
    if (error instanceof OwnershipLost || isDatabaseUnavailable(error)) throw error;
    const isOutgrown = state.goesOn === 'length' && codeOf(error) === 'CONTEXT_OVERFLOW';
    verdict = isOutgrown ? cutShort : failed(codeOf(error));
    if (!(error instanceof ChatError)) deps.log.error({ turnId: facts.turnId, err: error }, 'turn failed');
  }
  await writer.close();
  const judgement = result && result.finishReason !== null ? judgeReply(turn, state, writer, result) : null;
  const last = { writer, model, result, context, judgement };
  if (signal.reason instanceof OwnershipLost) throw signal.reason;
  const isFollowed = result !== null && (callsTools(result) || judgement?.goesOn != null);
  if (model && judgement && result?.call && isFollowed) {
    return store(deps, turn, journal, { ...last, model, judgement }, { ...result, call: result.call });
  }
  const isUnchecked = state.goesOn === 'verify' && !writer.saysSomething && !signal.aborted;
  return { kind: 'last', verdict: isUnchecked ? draftStands : verdict, last };
}
