import { StopRequested } from '../../agent/ends.js';
import type { Principal } from '../../auth/principal.js';
import { requestStop } from '../../db/queries/request-stop.js';
import { ChatError } from '../../errors.js';
import { stopWaitingTurn } from './answer-input.js';
import { awaitEnd } from './await-turn.js';
import type { TurnDependencies } from './dependencies.js';
import { followTurn } from './follow-turn.js';
import { stopQueued } from './stop-queued.js';

/**
 * Ends the active turn of a session and everything in its queue, or one of these turns, and resolves once the end is
 * stored: with the active turn, or else the first of the queue. That turn may have come to its own end in the last moment.
 * Null when there was nothing to end. The wish is stored first, so that it also reaches a turn of another process, which
 * looks for it twice a second and is told by the feed.
 *
 * @param turnId only this turn
 * @throws ChatError NOT_FOUND: no such session, or no such turn in it.
 */
export async function stopTurn(
  deps: TurnDependencies,
  principal: Principal,
  sessionId: string,
  turnId: string | null = null,
): Promise<{ turnId: string } | null> {
  // The queue first: what would come after the active turn must not begin when that ends.
  const [firstQueued] = await stopQueued(deps, principal, sessionId, turnId);
  const active = await requestStop(deps.database.pool, { sessionId, ...principal }, turnId);
  if (active === undefined) throw new ChatError('NOT_FOUND');
  if (active === null) return firstQueued === undefined ? null : { turnId: firstQueued };
  deps.live.abort(active, new StopRequested());
  const outcome = await deps.live.get(active)?.settled;
  if (outcome?.kind !== 'ended') {
    await stopWaitingTurn(deps, active);
    deps.feed?.signal({ kind: 'stop', turnId: active });
    await awaitEnd(await followTurn(deps, principal, active, null), async () => false);
  }
  return { turnId: active };
}
