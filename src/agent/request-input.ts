import { once } from 'node:events';
import type { StoredToolCall } from '../db/queries/owned-turn.js';
import { type InputToAsk, parkTurn } from '../db/queries/park-turn.js';
import { findUnwantedTurns } from '../db/queries/unwanted-turns.js';
import type { TurnEventBody } from '../events/event.js';
import type { Round } from './run-call.js';

/** A call that goes on with what somebody else says. */
export interface AskingCall {
  readonly call: StoredToolCall;
  readonly input: InputToAsk;
}

/**
 * Asks the user and the client, all at once, and gives the turn out of this process's hands until the last answer. False
 * when a stop came first: then the turn's signal is aborted.
 *
 * @throws OwnershipLost
 */
export async function requestInput(
  { deps, turn: { facts, signal }, journal, step }: Round,
  calls: readonly AskingCall[],
): Promise<boolean> {
  const { turnId, epoch } = facts;
  const requests = calls.map(({ call, input }) => ({
    requestId: deps.newId(),
    toolCallId: call.id,
    input,
    traceId: deps.newId(),
  }));
  const events = requests.flatMap(({ toolCallId, requestId, input }): TurnEventBody[] => [
    // A call that is to be approved begins when it is.
    ...(input.kind === 'APPROVAL' ? [] : [{ type: 'ToolCallStarted', step, toolCallId } as const]),
    { type: 'InputRequested', requestId },
  ]);
  const isParked = await journal.write(events, 'after-question-asked', async (layout) => {
    const timeoutMs = deps.inputTimeoutMs;
    if (await parkTurn(deps.db, { turnId, epoch, requests, timeoutMs, layout })) return true;
    const [unwanted] = await findUnwantedTurns(deps.db, [{ turnId, epoch }]);
    return unwanted?.isStopped ? 'withheld' : false;
  });
  // Whoever wants the stop has stored the wish and is about to abort the turn, or this process finds the wish itself.
  if (!isParked && !signal.aborted) await once(signal, 'abort');
  return isParked;
}
