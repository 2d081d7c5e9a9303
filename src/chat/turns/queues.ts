import { BudgetExhausted, StopRequested } from '../../agent/ends.js';
import { type PromotedTurn, promoteTurn } from '../../db/queries/promote-turn.js';
import { findWaitingSessions } from '../../db/queries/waiting-sessions.js';
import type { TurnDependencies } from './dependencies.js';
import { executeTurn } from './execute-turn.js';

/** Sessions that one look at all queues starts a turn in. */
const sweepSize = 50;

/** Why a turn ends as soon as it has begun; null when it runs. */
function reasonToEnd({ isClosed, usedUp }: PromotedTurn): Error | null {
  if (isClosed) return new StopRequested();
  return usedUp && new BudgetExhausted(usedUp);
}

/**
 * Starts the turns that wait in queues. Whoever ends a turn starts the next one of its session; a look at all queues,
 * in every process, finds those that nobody has started because that process has died.
 */
export class Queues {
  readonly #deps: TurnDependencies;
  readonly #starting = new Set<Promise<void>>();

  constructor(deps: TurnDependencies) {
    this.#deps = deps;
  }

  /** Starts the next turn of a session if it is free. Returns at once; what fails is left to the next sweep. */
  start(sessionId: string): void {
    const { feed, isClosing, log } = this.#deps;
    if (isClosing()) {
      feed?.signal({ kind: 'released' });
      return;
    }
    const starting = this.#promote(sessionId)
      .catch((error) => log.warn({ sessionId, err: error }, 'next turn of the queue could not be started yet'))
      .finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  /** Starts a turn in every session that is free although turns wait in it. */
  async sweep(): Promise<void> {
    const sessions = await findWaitingSessions(this.#deps.database.pool, sweepSize);
    for (const sessionId of sessions) {
      if (this.#deps.isClosing()) return;
      await this.#promote(sessionId);
    }
  }

  /** Resolves when no turn is about to be started here. */
  async idle(): Promise<void> {
    await Promise.all(this.#starting);
  }

  async #promote(sessionId: string): Promise<void> {
    const { database, newId, now, processId, settings, failpoint } = this.#deps;
    const promoted = await promoteTurn(database.pool, {
      sessionId,
      leaseOwner: processId,
      leaseMs: settings.leaseMs,
      startedAt: now(),
      traceId: newId(),
    });
    if (!promoted) return;
    await failpoint('after-promote');
    executeTurn(this.#deps, promoted.turn, reasonToEnd(promoted));
  }
}
