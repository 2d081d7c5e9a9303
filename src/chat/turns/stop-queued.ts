import type { Principal } from '../../auth/principal.js';
import { lockQueuedTurns, stopQueuedTurns } from '../../db/queries/stop-queued-turns.js';
import { inTransaction } from '../../db/transaction.js';
import type { TurnDependencies } from './dependencies.js';

/**
 * Ends the turns that wait in the queue of a session, or one of them, without ever running them, and answers with their
 * ids in their order. None when the session is not the caller's.
 */
export async function stopQueued(
  deps: TurnDependencies,
  principal: Principal,
  sessionId: string,
  turnId: string | null,
): Promise<string[]> {
  const stopped = await inTransaction(deps.database.pool, async (db) => {
    const turns = await lockQueuedTurns(db, { sessionId, ...principal }, turnId);
    const traced = turns.map((turn) => ({ ...turn, traceId: deps.newId() }));
    if (turns.length > 0) await stopQueuedTurns(db, sessionId, traced, deps.now());
    return turns.map((turn) => turn.turnId);
  });
  for (const id of stopped) {
    deps.mirrors.refresh(id);
    deps.feed?.signal({ kind: 'turn', turnId: id });
  }
  return stopped;
}
