import { isDatabaseUnavailable } from '../db/database-errors.js';
import { flushReply } from '../db/queries/flush-reply.js';
import type { TurnFacts, TurnState } from '../db/queries/owned-turn.js';
import type { TurnToRelease } from '../db/queries/release-turn.js';
import type { TurnEnd } from '../db/queries/settle-turn.js';
import type { SettledCall } from '../db/queries/settled-call.js';
import { ChatError, type ErrorCode } from '../errors.js';
import type { TurnEventBody } from '../events/event.js';
import type { TurnLog } from '../events/turn-log.js';
import type { ModelInfo } from '../model/catalog.js';
import { type CallResult, callModel } from './call-model.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost, ProcessEnding } from './ends.js';
import { buildPrompt } from './prompt.js';
import { ReplyWriter } from './reply-writer.js';
import { endTraces, modelCallTrace } from './traces.js';
import { cut, failed, judge, type Verdict } from './verdict.js';

/** A turn that this process runs. */
export interface RunningTurn {
  readonly facts: TurnFacts;
  /** Where it stands: it is run on from there. */
  readonly state: TurnState;
  readonly log: TurnLog;
  readonly signal: AbortSignal;
  /** Called with the writer of each step, so that a reader can have its text flushed. */
  onWriter(writer: ReplyWriter): void;
  /** Called when another owner has taken the turn over. */
  onLost(): void;
}

/** What a turn came to in this process. */
export type TurnResult =
  /** The row values of its end, and the events that tell of it once they are stored. */
  | {
      readonly kind: 'ended';
      readonly end: TurnEnd;
      readonly events: readonly TurnEventBody[];
      /** The time of these events, the same in the database and in the log. */
      readonly at: Date;
    }
  /** It waits for its user, which is stored and told. */
  | { readonly kind: 'parked' }
  /** This process has to end first: what it leaves to the next owner. */
  | { readonly kind: 'released'; readonly release: TurnToRelease };

function codeOf(error: unknown): ErrorCode {
  if (error instanceof ChatError) return error.code;
  return isDatabaseUnavailable(error) ? 'UNAVAILABLE' : 'INTERNAL';
}

function endEvent(verdict: Verdict): TurnEventBody {
  if (verdict.status === 'FAILED') {
    return { type: 'TurnFailed', code: verdict.errorCode ?? 'INTERNAL', retryable: verdict.errorRetryable ?? false };
  }
  return { type: verdict.status === 'STOPPED' ? 'TurnStopped' : 'TurnCompleted' };
}

const stepEvent = (step: number, { costUsd, estimated, ...call }: SettledCall): TurnEventBody => ({
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

interface Parts {
  readonly writer: ReplyWriter | null;
  readonly model: ModelInfo | null;
  readonly result: CallResult | null;
  readonly droppedHistory: boolean;
}

const contextTrace = { type: 'CONTEXT_DECISION', data: { olderMessagesLeftOut: true } };

function conclude(deps: AgentDependencies, turn: RunningTurn, verdict: Verdict, parts: Parts): TurnResult {
  const { facts, log } = turn;
  const { writer, result } = parts;
  const call = result?.call ?? null;
  const at = deps.now();
  const step = writer?.step ?? 0;
  const events: TurnEventBody[] = [...(call?.status === 'SUCCEEDED' ? [stepEvent(step, call)] : []), endEvent(verdict)];
  const traces = [
    ...(parts.droppedHistory ? [contextTrace] : []),
    ...endTraces({
      number: facts.number,
      verdict,
      call:
        call && parts.model && result
          ? { figures: call, model: parts.model.id, attempt: result.attempt, finishReason: result.finishReason }
          : null,
    }),
  ];
  const layout = log.layoutWith(events, at);
  const { replyStatus, ...outcome } = verdict;
  return {
    kind: 'ended',
    end: {
      turnId: facts.turnId,
      epoch: facts.epoch,
      ...outcome,
      reply: writer?.saysSomething
        ? { messageId: writer.messageId, content: writer.content, status: replyStatus, step }
        : null,
      call,
      layout: writer ? writer.layoutOf(layout) : layout,
      lastSequence: log.sequence + events.length,
      traces: traces.map((trace) => ({ id: deps.newId(), ...trace })),
    },
    events,
    at,
  };
}

/** What is left to the next owner: all that was told is stored, and the call that had to be cut is booked. */
async function release(
  deps: AgentDependencies,
  turn: RunningTurn,
  { writer, model, result }: Parts,
): Promise<TurnResult> {
  const { facts, log } = turn;
  await writer?.flush();
  const call = result?.call ?? null;
  return {
    kind: 'released',
    release: {
      turnId: facts.turnId,
      epoch: facts.epoch,
      call,
      layout: writer ? writer.layoutOf(log.layout) : log.layout,
      trace:
        call && model && result
          ? { id: deps.newId(), data: modelCallTrace(call, model.id, result.attempt, result.finishReason) }
          : null,
    },
  };
}

function openWriter(deps: AgentDependencies, { facts, state, log, onLost }: RunningTurn, step: number): ReplyWriter {
  const { turnId, epoch } = facts;
  return new ReplyWriter(log, state.partial?.messageId ?? deps.newId(), step, {
    async store(reply) {
      const isOwn = await flushReply(deps.db, { turnId, epoch, step, ...reply });
      if (isOwn) await deps.failpoint('after-flush');
      else onLost();
    },
    onError: (error) => deps.log.warn({ turnId, err: error }, 'streamed text could not be stored yet'),
  });
}

/**
 * Runs a turn from where it stands to its end, or until it waits or has to leave this process. Everything that can go
 * wrong is a verdict; only a lost ownership is thrown, since then there is nothing left to write.
 *
 * @throws OwnershipLost
 */
export async function runTurn(deps: AgentDependencies, turn: RunningTurn): Promise<TurnResult> {
  const { facts, state, signal } = turn;
  const step = state.step + 1;
  const model = deps.findModel(facts.model);
  const writer = openWriter(deps, turn, step);
  turn.onWriter(writer);
  let result: CallResult | null = null;
  let droppedHistory = false;
  let verdict: Verdict;
  try {
    if (!model) throw new ChatError('PROVIDER_REFUSED', `The model ${facts.model} is no longer offered here.`);
    const prompt = await buildPrompt(deps.db, facts, model);
    droppedHistory = prompt.dropped;
    if (signal.aborted) {
      verdict = cut(signal.reason);
    } else {
      const { temperature, maxOutputTokens } = facts;
      const request = { model: model.id, messages: prompt.messages, temperature, maxOutputTokens };
      result = await callModel(deps, { turn: facts, step, model, request, writer, signal });
      verdict = judge(result, writer.saysSomething, signal);
    }
  } catch (error) {
    if (error instanceof OwnershipLost) throw error;
    verdict = failed(codeOf(error));
    if (!(error instanceof ChatError)) deps.log.error({ turnId: facts.turnId, err: error }, 'turn failed');
  }
  await writer.close();
  if (signal.reason instanceof OwnershipLost) throw signal.reason;
  const parts = { writer, model, result, droppedHistory };
  const isCut = verdict.status === 'FAILED' && verdict.errorCode === 'INTERRUPTED';
  if (isCut && signal.reason instanceof ProcessEnding) return release(deps, turn, parts);
  // What an earlier owner had written is all there is when this one gets nothing.
  if (verdict.status !== 'COMPLETED' && !writer.saysSomething && state.partial) writer.text(state.partial.content);
  await writer.close();
  return conclude(deps, turn, verdict, parts);
}
