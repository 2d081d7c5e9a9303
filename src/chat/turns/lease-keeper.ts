import { OwnershipLost, StopRequested } from '../../agent/ends.js';
import { renewLeases } from '../../db/queries/renew-leases.js';
import type { ChatDependencies } from '../dependencies.js';
import type { LiveTurns } from './live-turns.js';

/**
 * Renews the leases of this process's turns, all in one statement. Turns that were taken over end here, and turns that
 * somebody wants stopped obey.
 */
export async function keepLeases(
  deps: Pick<ChatDependencies, 'database' | 'log' | 'processId' | 'settings'> & { readonly live: LiveTurns },
): Promise<void> {
  const turns = deps.live.all();
  if (turns.length === 0) return;
  const leases = await renewLeases(
    deps.database.pool,
    deps.processId,
    deps.settings.leaseMs,
    turns.map((turn) => turn.turnId),
  );
  const renewed = new Map(leases.map((lease) => [lease.turnId, lease]));
  for (const turn of turns) {
    const lease = renewed.get(turn.turnId);
    if (lease?.stopRequested) turn.abort.abort(new StopRequested());
    // Aborting a turn that has just been settled here does nothing: its work is over.
    else if (lease?.epoch !== turn.epoch) turn.abort.abort(new OwnershipLost());
  }
}
