import type { Principal } from '../../auth/principal.js';
import { loadTurn } from '../../db/queries/load-turn.js';
import { ChatError } from '../../errors.js';
import type { TurnEventCursor } from '../service.js';
import type { TurnDependencies } from './dependencies.js';
import { followTurn } from './follow-turn.js';
import { limitDetails, limitSentence } from './limit-details.js';
import type { TurnOutcome } from './live-turns.js';

/**
 * Reads a turn's events until it has ended or waits for its user.
 *
 * @param isParked whether it waits now: a request that is told may have been answered long ago.
 */
export async function awaitEnd(events: TurnEventCursor, isParked: () => Promise<boolean>): Promise<TurnOutcome> {
  for await (const event of events) {
    switch (event.type) {
      case 'TurnFailed': {
        const { stored = null } = event;
        return { kind: 'ended', error: event, stored };
      }
      case 'TurnCompleted':
      case 'TurnStopped':
        return { kind: 'ended', error: null, stored: event.stored ?? null };
    }
    if (event.type === 'InputRequested' && (await isParked())) return { kind: 'parked' };
  }
  throw new ChatError('NOT_FOUND', 'The session was deleted while its turn ran.');
}

/**
 * Waits for a turn that this process does not run, or not any more.
 *
 * @throws ChatError NOT_FOUND; UNAVAILABLE with `turnId` when this process ends before the turn does.
 */
export async function awaitElsewhere(
  deps: TurnDependencies,
  principal: Principal,
  turnId: string,
): Promise<TurnOutcome> {
  if (!deps.ending.isFired) {
    const events = await followTurn(deps, principal, turnId, null);
    const isParked = async () => (await loadTurn(deps.database.pool, turnId, principal))?.status === 'AWAITING_INPUT';
    const outcome = await deps.ending.race(awaitEnd(events, isParked));
    if (outcome) return outcome;
    await events.return?.();
  }
  throw new ChatError(
    'UNAVAILABLE',
    'The server is stopping, and another one goes on with this turn: follow it with turnEvents, or send the message again with its clientMessageId.',
    { details: { turnId, retryable: true } },
  );
}

/** @throws ChatError with the turn's code, `turnId` and `retryable`, and the limit that was reached, when the turn failed. */
export function throwIfFailed(turnId: string, outcome: TurnOutcome): void {
  if (outcome.kind !== 'ended' || !outcome.error) return;
  const { code, retryable, reached } = outcome.error;
  const sentence = reached && code === 'BUDGET_EXCEEDED' ? limitSentence(reached) : undefined;
  throw new ChatError(code, sentence, { details: { turnId, ...(reached && limitDetails(reached)), retryable } });
}
