import { stateOf } from '../../agent/turn-state.js';
import { loadOwnedTurn } from '../../db/queries/owned-turn.js';
import { bookLostCall } from './book-lost-call.js';
import { type ClaimedTurn, claimTurns } from './claim-turns.js';
import type { TurnDependencies } from './dependencies.js';
import { resumeTurn } from './execute-turn.js';

async function takeUp(deps: TurnDependencies, { turnId, epoch, lostThinking }: ClaimedTurn): Promise<void> {
  const owned = await loadOwnedTurn(deps.database.pool, turnId, epoch);
  if (!owned) return;
  if (owned.lostCall && !(await bookLostCall(deps, owned, owned.lostCall, lostThinking))) return;
  const { abort } = resumeTurn(deps, owned);
  deps.log.warn(
    { turnId, attempt: owned.attempts, from: stateOf(owned).step },
    abort.signal.aborted
      ? 'turn was found without an owner and is ended'
      : 'turn was found without an owner and goes on here',
  );
}

/**
 * Takes over turns whose process is gone, or has handed them over, and runs them on.
 *
 * @param exclusive no other process can use the database, so that every lease found is a dead one's.
 */
export async function recoverTurns(deps: TurnDependencies, exclusive: boolean): Promise<void> {
  // What could not be taken up is left to the next round: claiming it again at once would not help.
  const tried: string[] = [];
  while (!deps.isClosing()) {
    const turns = await claimTurns(deps, exclusive, [...deps.live.ids(), ...tried]);
    if (turns.length === 0) return;
    await deps.failpoint('after-claim');
    for (const turn of turns) {
      tried.push(turn.turnId);
      await takeUp(deps, turn).catch((error) => {
        deps.log.error({ turnId: turn.turnId, err: error }, 'abandoned turn could not be taken up yet');
      });
    }
  }
}
