import { StopRequested } from '../../agent/ends.js';
import type { Principal } from '../../auth/principal.js';
import { requestStop } from '../../db/queries/request-stop.js';
import { ChatError } from '../../errors.js';
import type { ChatDependencies } from '../dependencies.js';
import { awaitEnd } from './await-turn.js';
import { followTurn } from './follow-turn.js';
import type { LiveTurns } from './live-turns.js';

/**
 * Ends the active turn of a session and resolves once its end is stored; null when nothing ran. The wish is stored
 * first, so that it also reaches a turn of another process, which obeys when it renews its lease.
 *
 * @throws ChatError NOT_FOUND.
 */
export async function stopTurn(
  deps: Pick<ChatDependencies, 'database'> & { readonly live: LiveTurns },
  principal: Principal,
  sessionId: string,
): Promise<{ turnId: string } | null> {
  const turnId = await requestStop(deps.database.pool, { sessionId, ...principal });
  if (turnId === undefined) throw new ChatError('NOT_FOUND');
  if (turnId === null) return null;
  deps.live.abort(turnId, new StopRequested());
  const settled = deps.live.get(turnId)?.settled;
  await (settled ?? awaitEnd(turnId, await followTurn(deps, principal, turnId, null)));
  return { turnId };
}
