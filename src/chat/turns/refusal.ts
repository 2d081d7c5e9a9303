import type { UsedUpLimit } from '../../db/queries/budgets-of.js';
import type { RefusalFacts } from '../../db/queries/explain-refusal.js';
import { badInput, ChatError } from '../../errors.js';
import type { WhenBusy } from '../service.js';
import { limitDetails, limitSentence } from './limit-details.js';

/** Why a session in which a turn runs or waits takes nothing else. */
export function busyError(facts: RefusalFacts): ChatError {
  const details = facts.activeTurnId === null ? {} : { turnId: facts.activeTurnId };
  const requestId = facts.pendingRequestId;
  if (requestId === null) return new ChatError('TURN_IN_PROGRESS', undefined, { details });
  return new ChatError('INPUT_PENDING', undefined, { details: { ...details, requestId } });
}

/** Why a turn cannot join the queue. */
const queueError = ({ queuedTurns }: RefusalFacts, limit: number): ChatError =>
  new ChatError(
    'TURN_IN_PROGRESS',
    `The queue of this session is full: ${queuedTurns} turns wait and the limit is ${limit}. Wait for one of them to start, or stop one.`,
    { details: { queuedTurns, limit } },
  );

const budgetError = (reached: UsedUpLimit): ChatError =>
  new ChatError('BUDGET_EXCEEDED', limitSentence(reached), { details: limitDetails(reached) });

/** What the caller wants done where a turn is active, and what its message needs. */
export interface Wanted {
  readonly whenBusy: WhenBusy;
  readonly models: readonly string[];
  readonly maxQueuedTurns: number;
}

/**
 * The error for a turn that was not accepted. Null when nothing stands in its way any more: the turn that did has ended
 * since, or is the one to interrupt, and the call can be tried again.
 */
export function refusalError(
  facts: RefusalFacts | null,
  { whenBusy, models, maxQueuedTurns }: Wanted,
): ChatError | null {
  if (!facts) return new ChatError('NOT_FOUND');
  if (facts.closed) return new ChatError('SESSION_CLOSED');
  if (facts.activeTurnId !== null && whenBusy === 'REJECT') return busyError(facts);
  if (!models.includes(facts.model)) {
    return badInput(
      `The model of this session, ${facts.model}, is not offered here any more: choose another one with updateChatSession(input: {id, model}).`,
    );
  }
  if (facts.exhausted !== null) return budgetError(facts.exhausted);
  if (whenBusy === 'ENQUEUE' && facts.queuedTurns >= maxQueuedTurns && facts.activeTurnId !== null) {
    return queueError(facts, maxQueuedTurns);
  }
  return null;
}
