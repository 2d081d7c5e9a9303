import { findAbandonedTurns, takeTurn } from '../../db/queries/claim-turns.js';
import { inTransaction } from '../../db/transaction.js';
import { layoutLength, withoutUnfinishedStep } from '../../events/layout.js';
import type { TurnDependencies } from './dependencies.js';

/**
 * How far a new telling of a turn starts behind what is stored of the old one. Its owner may have told more than it
 * stored: at most what a model writes within a second.
 */
const unstoredAtMost = 1_000_000;
/** Turns that are claimed at once. */
const claimSize = 20;

export interface ClaimedTurn {
  readonly turnId: string;
  readonly epoch: number;
  /** What the owner before had stored of the thinking in the step that it did not end. */
  readonly lostThinking: string;
}

/**
 * Takes over turns whose lease has run out or was released, each by one claimer, however many claim at once. From then
 * on they are told anew, without the step that the owner before did not end.
 */
export function claimTurns(
  { database, processId, settings }: TurnDependencies,
  exclusive: boolean,
  except: readonly string[],
): Promise<ClaimedTurn[]> {
  const owner = { id: processId, leaseMs: settings.leaseMs };
  return inTransaction(database.pool, async (db) => {
    const claimed: ClaimedTurn[] = [];
    for (const turn of await findAbandonedTurns(db, { exclusive, except, limit: claimSize })) {
      const layout = withoutUnfinishedStep(turn.layout);
      const eventBase = turn.eventBase + layoutLength(turn.layout) + unstoredAtMost;
      const epoch = await takeTurn(db, owner, { ...turn, layout, eventBase });
      const lost = turn.layout.slice(layout.length);
      const lostThinking = lost.map((entry) => (entry.type === 'thinking' ? entry.text : '')).join('');
      claimed.push({ turnId: turn.turnId, epoch, lostThinking });
    }
    return claimed;
  });
}
