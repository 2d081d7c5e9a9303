import type { Principal } from '../../auth/principal.js';
import { isDatabaseUnavailable } from '../../db/database-errors.js';
import { findNextTurn, findPresent, findTurnByNumber } from '../../db/queries/session-turns.js';
import { badInput, ChatError } from '../../errors.js';
import { markOf } from '../../events/cursor.js';
import type { TurnEventCursor } from '../service.js';
import { type FollowDependencies, followFrom, followTurn, readCursor } from './follow-turn.js';
import { SessionFollower, type SessionSource } from './session-follower.js';
import type { SessionWatch } from './session-watch.js';

/**
 * Follows every turn of a session: the active one from its start, or what lies after a cursor, then what comes, until
 * the session is deleted.
 *
 * @throws ChatError NOT_FOUND, BAD_USER_INPUT (after).
 */
export async function followSession(
  deps: FollowDependencies & { readonly watch: SessionWatch },
  principal: Principal,
  sessionId: string,
  after: string | null,
): Promise<TurnEventCursor> {
  const { pool } = deps.database;
  const session = { sessionId, ...principal };
  const source: SessionSource = {
    wait: (number) => deps.watch.wait(sessionId, number),
    async next(number) {
      try {
        const turn = await findNextTurn(pool, session, number);
        return turn && { number: turn.number, events: await followTurn(deps, principal, turn.id, null) };
      } catch (error) {
        // What happens while the database is away is found when it is back: the watch looks again and again.
        if (isDatabaseUnavailable(error)) return null;
        throw error;
      }
    },
  };
  const present = await findPresent(pool, session);
  if (present === null) throw new ChatError('NOT_FOUND');
  if (after === null) return new SessionFollower(source, present);

  const position = readCursor(after);
  if (position.mark === markOf(sessionId)) return new SessionFollower(source, Math.min(position.turnNumber, present));
  const turn = await findTurnByNumber(pool, session, position.turnNumber);
  if (!turn || markOf(turn.id) !== position.mark) {
    throw badInput('after is a cursor of another session: leave it out to begin with the active turn.');
  }
  // A turn that was stopped in the queue is none of those that are told here; what ran meanwhile comes first.
  if (!turn.hasBegun) return new SessionFollower(source, Math.min(turn.number, present));
  return new SessionFollower(source, turn.number, await followFrom(deps, principal, turn.id, position.sequence));
}
