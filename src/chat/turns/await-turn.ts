import { ChatError } from '../../errors.js';
import type { TurnEventCursor } from '../service.js';
import type { TurnOutcome } from './live-turns.js';

/**
 * Reads a turn's events until it has ended or waits for its user.
 *
 * @param isParked whether it waits now: a request that is told may have been answered long ago.
 */
export async function awaitEnd(events: TurnEventCursor, isParked: () => Promise<boolean>): Promise<TurnOutcome> {
  for await (const event of events) {
    if (event.type === 'TurnFailed') {
      return { kind: 'ended', error: { code: event.code, retryable: event.retryable } };
    }
    if (event.type === 'TurnCompleted' || event.type === 'TurnStopped') return { kind: 'ended', error: null };
    if (event.type === 'InputRequested' && (await isParked())) return { kind: 'parked' };
  }
  throw new ChatError('NOT_FOUND', 'The session was deleted while its turn ran.');
}

/** @throws ChatError with the turn's code, `turnId` and `retryable`, when the turn failed. */
export function throwIfFailed(turnId: string, outcome: TurnOutcome): void {
  if (outcome.kind !== 'ended' || !outcome.error) return;
  const { code, retryable } = outcome.error;
  throw new ChatError(code, undefined, { details: { turnId, retryable } });
}
