import { StopRequested } from '../../agent/ends.js';
import type { Principal } from '../../auth/principal.js';
import { requestStop } from '../../db/queries/request-stop.js';
import { ChatError } from '../../errors.js';
import { awaitEnd } from './await-turn.js';
import type { TurnDependencies } from './dependencies.js';
import { followTurn } from './follow-turn.js';

/**
 * Ends the active turn of a session and resolves once its end is stored; null when nothing ran. The wish is stored
 * first, so that it also reaches a turn of another process, which looks for it twice a second and is told by the feed.
 *
 * @throws ChatError NOT_FOUND.
 */
export async function stopTurn(
  deps: TurnDependencies,
  principal: Principal,
  sessionId: string,
): Promise<{ turnId: string } | null> {
  const turnId = await requestStop(deps.database.pool, { sessionId, ...principal });
  if (turnId === undefined) throw new ChatError('NOT_FOUND');
  if (turnId === null) return null;
  deps.live.abort(turnId, new StopRequested());
  const outcome = await deps.live.get(turnId)?.settled;
  if (outcome?.kind !== 'ended') {
    deps.feed?.signal({ kind: 'stop', turnId });
    await awaitEnd(await followTurn(deps, principal, turnId, null), async () => false);
  }
  return { turnId };
}
