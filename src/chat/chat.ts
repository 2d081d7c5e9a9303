import { ProcessEnding } from '../agent/ends.js';
import { closeSession } from '../db/queries/close-session.js';
import { ChatError } from '../errors.js';
import { LogCursor } from '../events/log-cursor.js';
import type { ChatDependencies } from './dependencies.js';
import { seedHistory } from './seed/seed-history.js';
import type { ChatService } from './service.js';
import { createSession } from './sessions/create-session.js';
import { deleteSession } from './sessions/delete-session.js';
import { updateSession } from './sessions/update-session.js';
import { awaitEnd, throwIfFailed } from './turns/await-turn.js';
import { followTurn } from './turns/follow-turn.js';
import { keepLeases } from './turns/lease-keeper.js';
import { LiveTurns } from './turns/live-turns.js';
import { periodically } from './turns/periodically.js';
import { recoverTurns } from './turns/recover-turns.js';
import { startTurn } from './turns/start-turn.js';
import { stopTurn } from './turns/stop-turn.js';

/** The domain with its background work. */
export interface Chat {
  readonly service: ChatService;
  /** Ends what dead processes have left behind, then keeps leases alive. */
  start(): Promise<void>;
  /** Takes no more turns, lets running ones finish for `graceMs`, ends the rest as interrupted. */
  close(graceMs: number): Promise<void>;
}

/** Resolves with the work, or when the time is up. */
async function withinTime(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, timeUp]);
  clearTimeout(timer);
}

/** Builds the domain: all of ChatService over one database and one model port. */
export function createChat(dependencies: ChatDependencies): Chat {
  let closing = false;
  const deps = { ...dependencies, live: new LiveTurns(), isClosing: () => closing };
  const { live, log, settings } = deps;
  let endPeriodic: (() => Promise<void>)[] = [];

  const service: ChatService = {
    createSession: (principal, input) => createSession(deps, principal, input),
    updateSession: (principal, change) => updateSession(deps, principal, change),
    async closeSession(principal, sessionId) {
      if (!(await closeSession(deps.database.pool, { sessionId, ...principal }))) throw new ChatError('NOT_FOUND');
    },
    deleteSession: (principal, sessionId) => deleteSession({ ...deps, stop: service.stop }, principal, sessionId),
    seedHistory: (principal, sessionId, messages) => seedHistory(deps, principal, sessionId, messages),
    async send(principal, input) {
      const started = await startTurn(deps, principal, input);
      const outcome =
        'turn' in started
          ? await started.turn.settled
          : await awaitEnd(started.priorTurnId, await service.turnEvents(principal, started.priorTurnId));
      throwIfFailed(outcome);
      return { turnId: outcome.turnId };
    },
    async stream(principal, input, after = null) {
      const started = await startTurn(deps, principal, input);
      if ('turn' in started) return new LogCursor(started.turn.log, 0);
      return followTurn(deps, principal, started.priorTurnId, after);
    },
    turnEvents: (principal, turnId, after = null) => followTurn(deps, principal, turnId, after),
    stop: (principal, sessionId) => stopTurn(deps, principal, sessionId),
    async flush(sessionId) {
      await Promise.all(live.inSession(sessionId).map((turn) => turn.flush()));
    },
  };

  return {
    service,
    async start() {
      await recoverTurns(deps, deps.exclusive);
      endPeriodic = [
        periodically('leases', settings.leaseMs / 3, log, () => keepLeases(deps)),
        periodically('recovery', settings.leaseMs / 2, log, () => recoverTurns(deps, false)),
      ];
    },
    async close(graceMs) {
      closing = true;
      const allSettled = () => Promise.all(live.all().map((turn) => turn.settled));
      await withinTime(allSettled(), graceMs);
      // Again and again, since a call that was being accepted when closing began still becomes a turn.
      while (live.all().length > 0) {
        for (const turn of live.all()) turn.abort.abort(new ProcessEnding());
        await allSettled();
      }
      await Promise.all(endPeriodic.map((end) => end()));
    },
  };
}
