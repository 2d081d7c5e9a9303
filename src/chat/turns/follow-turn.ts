import type { Principal } from '../../auth/principal.js';
import type { Database } from '../../db/database.js';
import { loadTurn } from '../../db/queries/load-turn.js';
import { badInput, ChatError } from '../../errors.js';
import { decodeCursor, turnMark } from '../../events/cursor.js';
import { LogCursor } from '../../events/log-cursor.js';
import { isEnded, replay, type StoredTurn } from '../../events/replay.js';
import type { TurnEventCursor } from '../service.js';
import type { LiveTurns } from './live-turns.js';
import { StoredCursor } from './stored-cursor.js';

interface Dependencies {
  readonly database: Pick<Database, 'pool'>;
  readonly live: LiveTurns;
}

function readAfter(turn: StoredTurn, after: string | null): number {
  if (after === null) return 0;
  const position = decodeCursor(after);
  if (!position) throw badInput('after is no cursor: give the cursor of an event, unchanged.');
  if (position.turnMark !== turnMark(turn.id)) {
    throw badInput('after is a cursor of another turn: leave it out to get this turn from its start.');
  }
  // What the owner before this one told and did not store is lost, and its numbers with it: the turn is told anew.
  if (position.epoch !== turn.epoch) return 0;
  // A place behind the end is none that anybody was told.
  const isBehindEnd = isEnded(turn) && replay(turn, position.sequence - 1).length === 0;
  return isBehindEnd ? 0 : position.sequence;
}

/**
 * Follows a turn: what was told already (all of it, or what lies after a cursor), then what comes, to its end. The
 * events are the same wherever they come from, the log of this process or the database.
 *
 * @throws ChatError NOT_FOUND, BAD_USER_INPUT (after).
 */
export async function followTurn(
  deps: Dependencies,
  principal: Principal,
  turnId: string,
  after: string | null,
): Promise<TurnEventCursor> {
  const load = () => loadTurn(deps.database.pool, turnId, principal);
  const turn = await load();
  if (!turn) throw new ChatError('NOT_FOUND');
  const position = readAfter(turn, after);
  const log = deps.live.get(turnId)?.log;
  if (log) return new LogCursor(log, position > log.sequence ? 0 : position);
  return new StoredCursor(turn, position, load, () => deps.live.get(turnId)?.log);
}
