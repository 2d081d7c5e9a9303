import { isDatabaseUnavailable } from '../db/database-errors.js';
import type { AcceptedTurn } from '../db/queries/accept-turn.js';
import { flushReply } from '../db/queries/flush-reply.js';
import type { TurnEnd } from '../db/queries/settle-turn.js';
import type { SettledCall } from '../db/queries/settled-call.js';
import { ChatError, type ErrorCode } from '../errors.js';
import type { TurnEventBody } from '../events/event.js';
import type { TurnLog } from '../events/turn-log.js';
import type { ModelInfo } from '../model/catalog.js';
import { type CallResult, callModel } from './call-model.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost } from './ends.js';
import { buildPrompt } from './prompt.js';
import { ReplyWriter } from './reply-writer.js';
import { endTraces } from './traces.js';
import { cut, failed, judge, type Verdict } from './verdict.js';

/** A turn that this process runs. */
export interface RunningTurn {
  readonly accepted: AcceptedTurn;
  readonly log: TurnLog;
  readonly signal: AbortSignal;
  /** Called with the writer of each step, so that a reader can have its text flushed. */
  onWriter(writer: ReplyWriter): void;
  /** Called when another owner has taken the turn over. */
  onLost(): void;
}

/** What a turn came to: the row values of its end, and the events that tell of it once they are stored. */
export interface TurnResult {
  readonly end: TurnEnd;
  readonly events: readonly TurnEventBody[];
  /** The time of these events, the same in the database and in the log. */
  readonly at: Date;
}

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

function conclude(
  deps: AgentDependencies,
  turn: RunningTurn,
  verdict: Verdict,
  parts: { writer: ReplyWriter | null; model: ModelInfo | null; result: CallResult | null; droppedHistory: boolean },
): TurnResult {
  const { writer, result } = parts;
  const call = result?.call ?? null;
  const at = deps.now();
  const step = writer?.step ?? 0;
  const events: TurnEventBody[] = [...(call?.status === 'SUCCEEDED' ? [stepEvent(step, call)] : []), endEvent(verdict)];
  const traces = [
    ...(parts.droppedHistory ? [{ type: 'CONTEXT_DECISION', data: { olderMessagesLeftOut: true } }] : []),
    ...endTraces({
      number: turn.accepted.number,
      verdict,
      call:
        call && parts.model && result
          ? { figures: call, model: parts.model.id, attempt: result.attempt, finishReason: result.finishReason }
          : null,
    }),
  ];
  const layout = turn.log.layoutWith(events, at);
  const { replyStatus, ...outcome } = verdict;
  return {
    end: {
      turnId: turn.accepted.turnId,
      epoch: turn.accepted.epoch,
      ...outcome,
      reply: writer?.saysSomething
        ? { messageId: writer.messageId, content: writer.content, status: replyStatus, step }
        : null,
      call,
      layout: writer ? writer.layoutOf(layout) : layout,
      traces: traces.map((trace) => ({ id: deps.newId(), ...trace })),
    },
    events,
    at,
  };
}

/**
 * Runs an accepted turn to its end: prompt, model call, verdict. Everything that can go wrong is a verdict; only a
 * lost ownership is thrown, since then there is nothing left to write.
 *
 * @throws OwnershipLost
 */
export async function runTurn(deps: AgentDependencies, turn: RunningTurn): Promise<TurnResult> {
  const { accepted, signal } = turn;
  const step = 1;
  const model = deps.findModel(accepted.model);
  let writer: ReplyWriter | null = null;
  let result: CallResult | null = null;
  let droppedHistory = false;
  let verdict: Verdict;
  try {
    if (!model) throw new ChatError('PROVIDER_REFUSED', `The model ${accepted.model} is no longer offered here.`);
    const prompt = await buildPrompt(deps.db, accepted, model);
    droppedHistory = prompt.dropped;
    writer = new ReplyWriter(turn.log, deps.newId(), step, {
      async store(reply) {
        const { turnId, epoch } = accepted;
        const isOwn = await flushReply(deps.db, { turnId, epoch, step, ...reply });
        if (isOwn) await deps.failpoint('after-flush');
        else turn.onLost();
      },
      onError: (error) =>
        deps.log.warn({ turnId: accepted.turnId, err: error }, 'streamed text could not be stored yet'),
    });
    turn.onWriter(writer);
    if (signal.aborted) {
      verdict = cut(signal.reason);
    } else {
      const { temperature, maxOutputTokens } = accepted;
      const request = { model: model.id, messages: prompt.messages, temperature, maxOutputTokens };
      result = await callModel(deps, { turn: accepted, step, model, request, writer, signal });
      verdict = judge(result, writer.saysSomething, signal);
    }
  } catch (error) {
    if (error instanceof OwnershipLost) throw error;
    verdict = failed(codeOf(error));
    if (!(error instanceof ChatError)) deps.log.error({ turnId: accepted.turnId, err: error }, 'turn failed');
  }
  await writer?.close();
  if (signal.reason instanceof OwnershipLost) throw signal.reason;
  return conclude(deps, turn, verdict, { writer, model, result, droppedHistory });
}
