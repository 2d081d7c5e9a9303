import type { StoredToolCall } from '../db/queries/owned-turn.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost, ProcessEnding } from './ends.js';
import { conclude, notAsked, release } from './leave-turn.js';
import { openWriter, runModelStep } from './model-step.js';
import type { ReplyWriter } from './reply-writer.js';
import type { RunningTurn, TurnResult } from './running-turn.js';
import { isOpen } from './tool-calls.js';
import { closeCall, interruptedBy, outcomeUnknown } from './tool-results.js';
import { runToolRound } from './tool-round.js';
import { TurnJournal } from './turn-journal.js';
import type { PartialMessage, TurnState } from './turn-state.js';
import { cut, outOfSteps, type Verdict } from './verdict.js';

/** Ends a turn whose next step is not made, with what earlier steps and a lost attempt have written of a message. */
async function endWithPartial(
  deps: AgentDependencies,
  turn: RunningTurn,
  verdict: Verdict,
  step: number,
  partial: PartialMessage | null,
): Promise<TurnResult> {
  if (!partial) return conclude(deps, turn, verdict, notAsked);
  const writer = openWriter(deps, turn, step + 1, partial);
  writeLost(writer, partial);
  await writer.close();
  return conclude(deps, turn, verdict, { ...notAsked, writer });
}

/** What an earlier owner had written is all there is of a step that gets nothing more. */
function writeLost(writer: ReplyWriter, { lost }: PartialMessage): void {
  if (lost !== '') writer.text(lost);
}

/**
 * Leaves a turn that is cut off between two model calls, or while its tools run. Ended, all its calls have a result;
 * handed over, only those whose tool was at work and may not be run again.
 */
async function cutOff(
  deps: AgentDependencies,
  turn: RunningTurn,
  journal: TurnJournal,
  { step, toolCalls, partial }: TurnState,
): Promise<TurnResult> {
  const { reason } = turn.signal;
  if (reason instanceof OwnershipLost) throw reason;
  const isReleased = reason instanceof ProcessEnding;
  const mayRunAgain = ({ status, idempotent, input }: StoredToolCall) =>
    status === 'PENDING' || idempotent || input !== null;
  for (const call of toolCalls.filter(isOpen)) {
    if (isReleased && mayRunAgain(call)) continue;
    await closeCall(deps, turn, journal, step, call, isReleased ? outcomeUnknown : interruptedBy(reason));
  }
  if (isReleased) return release(deps, turn, notAsked);
  return endWithPartial(deps, turn, cut(reason), step, partial);
}

/**
 * Runs a turn from where it stands to its end, or until it waits or has to leave this process. What goes wrong with the
 * model or a tool is part of the turn.
 *
 * @throws OwnershipLost when there is nothing left to write here, and the error of a database that stayed away: the
 *   turn is then taken up again from its last stored step.
 */
export async function runTurn(deps: AgentDependencies, turn: RunningTurn): Promise<TurnResult> {
  const { facts, signal } = turn;
  const journal = new TurnJournal(deps, turn);
  let state = turn.state;
  for (;;) {
    if (!signal.aborted && state.toolCalls.some(isOpen)) {
      const { isParked, open } = await runToolRound(deps, turn, journal, state.step, state.toolCalls);
      if (isParked) return { kind: 'parked' };
      state = { ...state, toolCalls: open };
    }
    if (signal.aborted) return cutOff(deps, turn, journal, state);
    if (state.step >= facts.maxSteps) return endWithPartial(deps, turn, outOfSteps, state.step, state.partial);
    const outcome = await runModelStep(deps, turn, journal, state);
    if (outcome.kind === 'stored') {
      const { toolCalls, goesOn, partial } = outcome;
      const hasVerified = state.hasVerified || goesOn === 'verify';
      state = { step: state.step + 1, toolCalls, goesOn, hasVerified, partial };
      continue;
    }
    const { verdict, last } = outcome;
    const isCut = verdict.status === 'FAILED' && verdict.errorCode === 'INTERRUPTED';
    if (isCut && signal.reason instanceof ProcessEnding) return release(deps, turn, last);
    const { writer } = last;
    if (verdict.status !== 'COMPLETED' && writer?.written.trim() === '' && state.partial) {
      writeLost(writer, state.partial);
      await writer.close();
    }
    return conclude(deps, turn, verdict, last);
  }
}
