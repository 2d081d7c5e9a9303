import { OwnershipLost, StopRequested } from '../../agent/ends.js';
import { renewLeases } from '../../db/queries/renew-leases.js';
import { findUnwantedTurns } from '../../db/queries/unwanted-turns.js';
import type { TurnDependencies } from './dependencies.js';

/** Renews the leases of this process's turns, all in one statement. */
export async function keepLeases({ database, live, processId, settings }: TurnDependencies): Promise<void> {
  const turns = live.all().map(({ turnId }) => turnId);
  if (turns.length > 0) await renewLeases(database.pool, processId, settings.leaseMs, turns);
}

/** Ends the turns of this process that somebody wants stopped, or that were taken over, after one look at the database. */
export async function obeyStops({ database, live }: TurnDependencies): Promise<void> {
  const turns = live.all();
  if (turns.length === 0) return;
  const unwanted = await findUnwantedTurns(database.pool, turns);
  const epochs = new Map(turns.map((turn) => [turn.turnId, turn]));
  for (const { turnId, isStopped } of unwanted) {
    // Aborting a turn that has just been settled here does nothing: its work is over.
    epochs.get(turnId)?.abort.abort(isStopped ? new StopRequested() : new OwnershipLost());
  }
}
