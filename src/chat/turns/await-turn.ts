import { ChatError } from '../../errors.js';
import type { TurnEventCursor } from '../service.js';
import type { TurnOutcome } from './live-turns.js';

/** Reads a turn's events to the end. */
export async function awaitEnd(turnId: string, events: TurnEventCursor): Promise<TurnOutcome> {
  for await (const event of events) {
    if (event.type === 'TurnFailed') return { turnId, error: { code: event.code, retryable: event.retryable } };
    if (event.type === 'TurnCompleted' || event.type === 'TurnStopped') return { turnId, error: null };
  }
  throw new ChatError('NOT_FOUND', 'The session was deleted while its turn ran.');
}

/** @throws ChatError with the turn's code, `turnId` and `retryable`, when the turn failed. */
export function throwIfFailed({ turnId, error }: TurnOutcome): void {
  if (error) throw new ChatError(error.code, undefined, { details: { turnId, retryable: error.retryable } });
}
