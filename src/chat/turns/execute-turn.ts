import { AttemptsExhausted, OwnershipLost, StopRequested } from '../../agent/ends.js';
import type { ReplyWriter } from '../../agent/reply-writer.js';
import { runTurn } from '../../agent/run-turn.js';
import type { TurnResult } from '../../agent/running-turn.js';
import { freshTurn, stateOf, type TurnState } from '../../agent/turn-state.js';
import type { AcceptedTurn } from '../../db/queries/accept-turn.js';
import type { OwnedTurn } from '../../db/queries/owned-turn.js';
import { releaseTurn } from '../../db/queries/release-turn.js';
import type { TurnFacts } from '../../db/queries/turn-facts.js';
import { isTerminal } from '../../events/event.js';
import { TurnLog } from '../../events/turn-log.js';
import type { TurnDependencies } from './dependencies.js';
import type { LiveTurn, TurnOutcome } from './live-turns.js';
import { settle } from './settle.js';

/** Owners that a turn may lose before it is given up: one that ends every process would otherwise end them all. */
const mostAttempts = 3;

interface Run {
  readonly facts: TurnFacts;
  readonly state: TurnState;
  readonly log: TurnLog;
  readonly abort: AbortController;
  onWriter(writer: ReplyWriter): void;
}

function openLog(deps: TurnDependencies, facts: TurnFacts, eventBase: number): TurnLog {
  const { sessionId, turnId, number, epoch } = facts;
  const { feed } = deps;
  return new TurnLog(
    { sessionId, turnId, turnNumber: number, eventBase },
    deps.now,
    feed ? (body, at, from) => feed.publish({ turnId, epoch, from, events: [{ body, at: at.getTime() }] }) : undefined,
  );
}

/** Stores and tells what a run came to. */
async function conclude(deps: TurnDependencies, { facts, log }: Run, result: TurnResult): Promise<TurnOutcome> {
  const { sessionId } = facts;
  switch (result.kind) {
    case 'parked':
      return { kind: 'parked' };
    case 'released':
      await releaseTurn(deps.database.pool, result.release);
      await deps.failpoint('after-release');
      deps.feed?.signal({ kind: 'released' });
      return { kind: 'moved' };
    case 'ended': {
      const settled = await settle(deps, result.end, facts, deps.settings.leaseMs);
      if (!settled) throw new OwnershipLost();
      await deps.failpoint('after-settle-before-tell');
      const { queuedTurns, stored } = settled;
      for (const event of result.events) log.append(isTerminal(event) ? { ...event, stored } : event, result.at);
      if (queuedTurns > 0) deps.startQueued(sessionId);
      const failure = result.events.find((event) => event.type === 'TurnFailed');
      return { kind: 'ended', error: failure ?? null, stored };
    }
  }
}

async function runToEnd(deps: TurnDependencies, run: Run): Promise<TurnOutcome> {
  const { facts, state, log, abort } = run;
  const { turnId } = facts;
  const agent = {
    db: deps.database.pool,
    model: deps.model,
    findModel: deps.catalog.find,
    tools: deps.tools,
    counts: deps.counts,
    summary: { model: deps.settings.summaryModel, timeoutMs: deps.settings.summaryTimeoutMs },
    log: deps.log,
    maxRetries: deps.settings.maxRetries,
    inputTimeoutMs: deps.settings.inputTimeoutMs,
    patienceMs: deps.settings.leaseMs,
    newId: deps.newId,
    now: deps.now,
    random: deps.random,
    failpoint: deps.failpoint,
  };
  try {
    const result = await runTurn(agent, {
      facts,
      state,
      log,
      signal: abort.signal,
      onWriter: run.onWriter,
      onLost: () => abort.abort(new OwnershipLost()),
    });
    return await conclude(deps, run, result);
  } catch (error) {
    if (error instanceof OwnershipLost) deps.log.warn({ turnId }, 'turn is not run by this process any more');
    else deps.log.error({ turnId, err: error }, 'what became of a turn could not be stored: it will be taken up again');
    return { kind: 'moved' };
  } finally {
    // Whoever follows finds what is stored, or another owner.
    log.events.detach();
    deps.feed?.signal({ kind: 'turn', turnId });
  }
}

/** @param reason ends the turn at once, as if it had been aborted with it. */
function execute(
  deps: TurnDependencies,
  { facts, state, log }: Pick<Run, 'facts' | 'state' | 'log'>,
  reason: Error | null,
): LiveTurn {
  const abort = new AbortController();
  let writer: ReplyWriter | null = null;
  const run: Run = {
    facts,
    state,
    log,
    abort,
    onWriter: (current) => {
      writer = current;
    },
  };
  const turn: LiveTurn = {
    sessionId: facts.sessionId,
    turnId: facts.turnId,
    epoch: facts.epoch,
    log,
    abort,
    settled: Promise.resolve()
      .then(() => runToEnd(deps, run))
      .finally(() => deps.live.remove(turn)),
    flush: async () => writer?.flush(),
  };
  deps.live.add(turn);
  deps.feed?.signal({ kind: 'session', sessionId: facts.sessionId });
  if (reason) abort.abort(reason);
  return turn;
}

/**
 * Runs a turn that has just begun. From here on its end is stored and told, whatever happens.
 *
 * @param reason ends it at once, as if it had been aborted with it.
 */
export function executeTurn(
  deps: TurnDependencies,
  { facts, eventBase, startedAt }: AcceptedTurn,
  reason: Error | null = null,
): LiveTurn {
  const log = openLog(deps, facts, eventBase);
  log.append({ type: 'TurnStarted' }, startedAt);
  return execute(deps, { facts, state: freshTurn, log }, reason);
}

/** Why a turn is ended instead of being run on; null when it goes on. */
function reasonToEnd({ attempts, isStopRequested }: OwnedTurn): Error | null {
  if (isStopRequested) return new StopRequested();
  return attempts > mostAttempts ? new AttemptsExhausted() : null;
}

/** Runs a turn on from its last stored step, or to its end when it is to be stopped or has lost too many owners. */
export function resumeTurn(deps: TurnDependencies, owned: OwnedTurn): LiveTurn {
  const log = openLog(deps, owned.facts, owned.stored.eventBase);
  log.restore(owned.stored);
  return execute(deps, { facts: owned.facts, state: stateOf(owned), log }, reasonToEnd(owned));
}
