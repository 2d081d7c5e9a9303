import { setTimeout as sleep } from 'node:timers/promises';
import type { Principal } from '../../auth/principal.js';
import type { Database } from '../../db/database.js';
import { isDatabaseUnavailable } from '../../db/database-errors.js';
import { loadTurn } from '../../db/queries/load-turn.js';
import { badInput, ChatError } from '../../errors.js';
import { decodeCursor, type EventPosition, markOf } from '../../events/cursor.js';
import type { TurnEventCursor } from '../service.js';
import type { Interruption } from './interruption.js';
import type { LiveTurn, LiveTurns } from './live-turns.js';
import { type FollowedLog, TurnFollower } from './turn-follower.js';
import type { TurnMirrors } from './turn-mirrors.js';

export interface FollowDependencies {
  readonly database: Pick<Database, 'pool'>;
  readonly live: LiveTurns;
  readonly mirrors: TurnMirrors;
}

/** Pause before a database that is away is asked again where a turn goes on. */
const pauseMs = 500;

const liveLog = ({ log }: LiveTurn): FollowedLog => ({ log: log.events, release: () => {} });

/** Where the turn can be followed now; null when it is gone. */
async function findLog(
  deps: FollowDependencies,
  principal: Principal,
  turnId: string,
  leaving: Interruption,
): Promise<FollowedLog | null> {
  while (!leaving.isFired) {
    const live = deps.live.open(turnId);
    if (live) return liveLog(live);
    const load = () => loadTurn(deps.database.pool, turnId, principal);
    try {
      const turn = await load();
      return turn && deps.mirrors.hold(turn, load);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await sleep(pauseMs);
    }
  }
  return null;
}

/** Follows a turn that runs in this process from its start. */
export const followLive = (deps: FollowDependencies, principal: Principal, live: LiveTurn): TurnEventCursor =>
  new TurnFollower((leaving) => findLog(deps, principal, live.turnId, leaving), liveLog(live), 0);

/** @throws ChatError BAD_USER_INPUT. */
export function readCursor(after: string): EventPosition {
  const position = decodeCursor(after);
  if (!position) throw badInput('after is no cursor: give the cursor of an event, unchanged.');
  return position;
}

function readAfter(turnId: string, after: string | null): number {
  if (after === null) return 0;
  const position = readCursor(after);
  if (position.mark !== markOf(turnId)) {
    throw badInput('after is a cursor of another turn: leave it out to get this turn from its start.');
  }
  return position.sequence;
}

/**
 * Follows a turn from behind a sequence on, to its end. A sequence that nobody can have been told gives the whole turn.
 *
 * @throws ChatError NOT_FOUND.
 */
export async function followFrom(
  deps: FollowDependencies,
  principal: Principal,
  turnId: string,
  sequence: number,
): Promise<TurnEventCursor> {
  const load = () => loadTurn(deps.database.pool, turnId, principal);
  const turn = await load();
  if (!turn) throw new ChatError('NOT_FOUND');
  const live = deps.live.open(turnId);
  const followed = live ? liveLog(live) : deps.mirrors.hold(turn, load);
  // What another process has told may be ahead of what it has stored, so there only the end shows that a place is none.
  const isFuture = live !== undefined && sequence > live.log.sequence;
  return new TurnFollower((leaving) => findLog(deps, principal, turnId, leaving), followed, isFuture ? 0 : sequence);
}

/**
 * Follows a turn: what was told already (all of it, or what lies after a cursor), then what comes, to its end. The
 * events are the same wherever they come from: the log of this process, another process, or the database.
 *
 * @throws ChatError NOT_FOUND, BAD_USER_INPUT (after).
 */
export async function followTurn(
  deps: FollowDependencies,
  principal: Principal,
  turnId: string,
  after: string | null,
): Promise<TurnEventCursor> {
  return followFrom(deps, principal, turnId, readAfter(turnId, after));
}
