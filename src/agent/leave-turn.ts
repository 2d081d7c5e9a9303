import type { TurnEventBody } from '../events/event.js';
import type { ReachedLimit } from '../events/reached-limit.js';
import { contextTraces } from './context/trace.js';
import type { AgentDependencies } from './dependencies.js';
import { BudgetExhausted } from './ends.js';
import { type LastStep, stepEvent } from './model-step.js';
import type { RunningTurn, TurnResult } from './running-turn.js';
import { endTraces, modelCallTrace } from './traces.js';
import { isByBudget, type Verdict } from './verdict.js';

/** A last step in which the model was not asked. */
export const notAsked: LastStep = { writer: null, model: null, result: null, context: null, judgement: null };

function endEvent({ status, errorCode, errorRetryable }: Verdict, reached: ReachedLimit | null): TurnEventBody {
  if (status === 'STOPPED') return { type: 'TurnStopped' };
  const budget = reached && { reached };
  if (status === 'COMPLETED') return { type: 'TurnCompleted', ...budget };
  return { type: 'TurnFailed', code: errorCode ?? 'INTERNAL', retryable: errorRetryable ?? false, ...budget };
}

/** The end of a turn, to be stored and told by whoever runs it. */
export function conclude(deps: AgentDependencies, turn: RunningTurn, verdict: Verdict, last: LastStep): TurnResult {
  const { facts, log } = turn;
  const { writer, result, judgement } = last;
  const call = result?.call ?? null;
  const { reason } = turn.signal;
  const found = reason instanceof BudgetExhausted ? reason.reached : result?.budget?.reached;
  const reached = (isByBudget(verdict) && found) || null;
  const at = deps.now();
  const step = writer?.step ?? 0;
  const events: TurnEventBody[] = [
    ...(call && judgement ? [stepEvent(step, call, judgement)] : []),
    endEvent(verdict, reached),
  ];
  const traces = [
    ...contextTraces(last.context),
    ...endTraces({
      number: facts.number,
      step,
      judgement,
      verdict,
      reached,
      call:
        call && last.model && result
          ? { figures: call, model: last.model.id, attempt: result.attempt, finishReason: result.finishReason }
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
export async function release(
  deps: AgentDependencies,
  { facts, log }: RunningTurn,
  { writer, model, result }: LastStep,
): Promise<TurnResult> {
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
