import type { RefusalFacts } from '../../db/queries/explain-refusal.js';
import { badInput, ChatError } from '../../errors.js';

/** Why a session with an active turn takes nothing else. */
export function busyError(facts: RefusalFacts): ChatError {
  const details = facts.activeTurnId === null ? {} : { turnId: facts.activeTurnId };
  return new ChatError(facts.awaitingInput ? 'INPUT_PENDING' : 'TURN_IN_PROGRESS', undefined, { details });
}

function budgetError({ budget }: RefusalFacts): ChatError {
  const [limit, spent, unit] =
    budget.exhausted === 'cost'
      ? [Number(budget.maxCostUsd), Number(budget.spentCostUsd), 'USD']
      : [Number(budget.maxTokens), Number(budget.spentTokens), 'tokens'];
  return new ChatError(
    'BUDGET_EXCEEDED',
    `The budget is used up: ${spent} of ${limit} ${unit} are spent. Raise it with updateChatSession.`,
    { details: { limitKind: budget.exhausted ?? 'cost', limit, spent } },
  );
}

/**
 * The error for a turn that was not accepted. Null when nothing stands in its way any more: the turn that did has ended
 * since, and the call can be tried again.
 */
export function refusalError(facts: RefusalFacts | null, models: readonly string[]): ChatError | null {
  if (!facts) return new ChatError('NOT_FOUND');
  if (facts.closed) return new ChatError('SESSION_CLOSED');
  if (facts.activeTurnId !== null) return busyError(facts);
  if (!models.includes(facts.model)) {
    return badInput(
      `The model of this session, ${facts.model}, is not offered here any more: choose another one with updateChatSession(input: {id, model}).`,
    );
  }
  if (facts.budget.exhausted !== null) return budgetError(facts);
  return null;
}
