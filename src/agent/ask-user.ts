import { once } from 'node:events';
import type { StoredToolCall } from '../db/queries/owned-turn.js';
import { parkTurn } from '../db/queries/park-turn.js';
import { findUnwantedTurns } from '../db/queries/unwanted-turns.js';
import type { TurnEventBody } from '../events/event.js';
import type { AgentDependencies } from './dependencies.js';
import type { RunningTurn } from './running-turn.js';
import type { Question } from './tools/tool.js';
import type { TurnJournal } from './turn-journal.js';

export interface AskingCall {
  readonly call: StoredToolCall;
  readonly question: Question;
}

/**
 * Asks the user and gives the turn out of this process's hands until the answer. False when a stop came first: then the
 * turn's signal is aborted.
 *
 * @throws OwnershipLost
 */
export async function askUser(
  deps: AgentDependencies,
  { facts, signal }: RunningTurn,
  journal: TurnJournal,
  step: number,
  calls: readonly AskingCall[],
): Promise<boolean> {
  const { turnId, epoch } = facts;
  const questions = calls.map(({ call, question }) => ({
    requestId: deps.newId(),
    toolCallId: call.id,
    ...question,
    traceId: deps.newId(),
  }));
  const events = questions.flatMap(({ toolCallId, requestId }): TurnEventBody[] => [
    { type: 'ToolCallStarted', step, toolCallId },
    { type: 'InputRequested', requestId },
  ]);
  const isParked = await journal.write(events, 'after-question-asked', async (layout) => {
    const timeoutMs = deps.inputTimeoutMs;
    if (await parkTurn(deps.db, { turnId, epoch, questions, timeoutMs, layout })) return true;
    const [unwanted] = await findUnwantedTurns(deps.db, [{ turnId, epoch }]);
    return unwanted?.isStopped ? 'withheld' : false;
  });
  // Whoever wants the stop has stored the wish and is about to abort the turn, or this process finds the wish itself.
  if (!isParked && !signal.aborted) await once(signal, 'abort');
  return isParked;
}
