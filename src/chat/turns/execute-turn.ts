import { OwnershipLost } from '../../agent/ends.js';
import type { ReplyWriter } from '../../agent/reply-writer.js';
import { runTurn } from '../../agent/run-turn.js';
import type { AcceptedTurn } from '../../db/queries/accept-turn.js';
import { loadTurn } from '../../db/queries/load-turn.js';
import { replay } from '../../events/replay.js';
import { isTerminal, TurnLog } from '../../events/turn-log.js';
import type { ChatDependencies } from '../dependencies.js';
import type { LiveTurn, LiveTurns, TurnOutcome } from './live-turns.js';
import { settle } from './settle.js';

type Dependencies = ChatDependencies & { readonly live: LiveTurns };

const interrupted = { code: 'INTERRUPTED', retryable: true } as const;

/**
 * Tells the followers of a turn whose end this process did not store, or does not know to have stored, how it ended; at
 * any rate that it ended. The database knows: an answer of it may have been lost on the way.
 */
async function tellStoredEnd(deps: Dependencies, accepted: AcceptedTurn, log: TurnLog): Promise<TurnOutcome> {
  const { turnId } = accepted;
  const turn = await loadTurn(deps.database.pool, turnId, accepted).catch(() => null);
  // Under another owner the numbers mean something else, and only the end itself can be told.
  const isOwn = turn?.epoch === accepted.epoch;
  for (const event of turn ? replay(turn, isOwn ? log.sequence : 0) : []) {
    if (isOwn || isTerminal(event)) log.append(event, event.at);
  }
  const isStored = log.ended;
  log.append({ type: 'TurnFailed', ...interrupted });
  if (!isStored || !turn) return { turnId, error: interrupted };
  return { turnId, error: turn.errorCode && { code: turn.errorCode, retryable: turn.errorRetryable ?? false } };
}

async function runToEnd(
  deps: Dependencies,
  accepted: AcceptedTurn,
  log: TurnLog,
  abort: AbortController,
  onWriter: (writer: ReplyWriter) => void,
): Promise<TurnOutcome> {
  const { turnId } = accepted;
  const agent = {
    db: deps.database.pool,
    model: deps.model,
    findModel: deps.catalog.find,
    log: deps.log,
    maxRetries: deps.settings.maxRetries,
    newId: deps.newId,
    now: deps.now,
    random: deps.random,
    failpoint: deps.failpoint,
  };
  try {
    const { end, events, at } = await runTurn(agent, {
      accepted,
      log,
      signal: abort.signal,
      onWriter,
      onLost: () => abort.abort(new OwnershipLost()),
    });
    if (await settle(deps, end, accepted, deps.settings.leaseMs)) {
      await deps.failpoint('after-settle-before-tell');
      for (const event of events) log.append(event, at);
      const { errorCode, errorRetryable } = end;
      return { turnId, error: errorCode === null ? null : { code: errorCode, retryable: errorRetryable ?? false } };
    }
    deps.log.warn({ turnId }, 'turn was ended by another process');
  } catch (error) {
    if (error instanceof OwnershipLost) deps.log.warn({ turnId }, 'turn was taken over by another process');
    else deps.log.error({ turnId, err: error }, 'end of turn could not be stored');
  }
  return tellStoredEnd(deps, accepted, log);
}

/** Runs an accepted turn in this process. From here on its end is stored and told, whatever happens. */
export function executeTurn(deps: Dependencies, accepted: AcceptedTurn): LiveTurn {
  const { sessionId, turnId, number, epoch } = accepted;
  const log = new TurnLog({ sessionId, turnId, number, epoch }, deps.now);
  const abort = new AbortController();
  let writer: ReplyWriter | null = null;
  log.append({ type: 'TurnStarted' }, accepted.startedAt);
  const settled = runToEnd(deps, accepted, log, abort, (current) => {
    writer = current;
  }).finally(() => deps.live.remove(turn));
  const turn: LiveTurn = {
    sessionId,
    turnId,
    epoch,
    log,
    abort,
    settled,
    flush: async () => writer?.flush(),
  };
  deps.live.add(turn);
  return turn;
}
