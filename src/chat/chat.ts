import { TokenCounts } from '../agent/context/token-counts.js';
import { ProcessEnding } from '../agent/ends.js';
import { sessionTools } from '../agent/tools/session-tools.js';
import type { Principal } from '../auth/principal.js';
import { closeSession } from '../db/queries/close-session.js';
import type { TurnFacts } from '../db/queries/turn-facts.js';
import { ChatError } from '../errors.js';
import { startBackground } from './background.js';
import type { ChatDependencies } from './dependencies.js';
import { seedHistory } from './seed/seed-history.js';
import type { ChatService } from './service.js';
import { createSession } from './sessions/create-session.js';
import { deleteSession } from './sessions/delete-session.js';
import { forkSession } from './sessions/fork-session.js';
import { toolInfo } from './sessions/tool-info.js';
import { updateSession } from './sessions/update-session.js';
import { answerQuestion, decideApproval, submitToolResult } from './turns/answer-input.js';
import { awaitElsewhere, throwIfFailed } from './turns/await-turn.js';
import type { TurnDependencies } from './turns/dependencies.js';
import { followSession } from './turns/follow-session.js';
import { followLive, followTurn } from './turns/follow-turn.js';
import { Interruption } from './turns/interruption.js';
import { LiveTurns, type TurnOutcome } from './turns/live-turns.js';
import { Queues } from './turns/queues.js';
import { recoverTurns } from './turns/recover-turns.js';
import { regenerateTurn } from './turns/regenerate-turn.js';
import { SessionWatch } from './turns/session-watch.js';
import { type StartedTurn, startTurn } from './turns/start-turn.js';
import { stopQueued } from './turns/stop-queued.js';
import { stopTurn } from './turns/stop-turn.js';
import { TurnMirrors } from './turns/turn-mirrors.js';

/** The domain with its background work. */
export interface Chat {
  readonly service: ChatService;
  /** Takes up what dead processes have left behind, then keeps leases alive. */
  start(): Promise<void>;
  /** Takes no more turns, lets running ones finish for `graceMs`, hands the rest over to other processes. */
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
  const live = new LiveTurns();
  const mirrors = new TurnMirrors(dependencies.feed, (turnId) => live.open(turnId) !== undefined);
  const watch = new SessionWatch(dependencies.database);
  live.onAdd(({ turnId, sessionId }) => {
    mirrors.refresh(turnId);
    watch.wake(sessionId);
  });
  const deps: TurnDependencies = {
    ...dependencies,
    live,
    mirrors,
    counts: new TokenCounts(),
    isClosing: () => closing,
    ending: new Interruption(),
    startQueued: (sessionId) => queues.start(sessionId),
  };
  const queues = new Queues(deps);
  let endBackground: (() => Promise<void>) | null = null;

  const awaitReply = async (principal: Principal, started: StartedTurn) => {
    const turnId = 'turn' in started ? started.turn.turnId : started.turnId;
    let outcome: TurnOutcome = 'turn' in started ? await started.turn.settled : { kind: 'moved' };
    if (outcome.kind === 'moved') outcome = await awaitElsewhere(deps, principal, turnId);
    throwIfFailed(turnId, outcome);
    return { turnId, stored: outcome.kind === 'ended' ? outcome.stored : null };
  };

  const service: ChatService = {
    createSession: (principal, input) => createSession(deps, principal, input),
    updateSession: (principal, change) => updateSession(deps, principal, change),
    async closeSession(principal, sessionId) {
      if (!(await closeSession(deps.database.pool, { sessionId, ...principal }))) throw new ChatError('NOT_FOUND');
      // The turn that runs may finish. Should this process die here, what waits ends when its turn comes.
      await stopQueued(deps, principal, sessionId, null);
    },
    deleteSession: (principal, sessionId) => deleteSession({ ...deps, stop: service.stop }, principal, sessionId),
    forkSession: (principal, input) => forkSession(deps, principal, input),
    seedHistory: (principal, sessionId, messages) => seedHistory(deps, principal, sessionId, messages),
    send: async (principal, input) => awaitReply(principal, await startTurn(deps, principal, input)),
    regenerate: async (principal, input) => awaitReply(principal, await regenerateTurn(deps, principal, input)),
    async stream(principal, input, after = null) {
      const started = await startTurn(deps, principal, input);
      if ('turn' in started) return followLive(deps, principal, started.turn);
      return followTurn(deps, principal, started.turnId, after);
    },
    turnEvents: (principal, turnId, after = null) => followTurn(deps, principal, turnId, after),
    sessionEvents: (principal, sessionId, after = null) =>
      followSession({ ...deps, watch }, principal, sessionId, after),
    answerQuestion: (principal, input) => answerQuestion(deps, principal, input),
    decideApproval: (principal, input) => decideApproval(deps, principal, input),
    submitToolResult: (principal, input) => submitToolResult(deps, principal, input),
    stop: (principal, sessionId, turnId = null) => stopTurn(deps, principal, sessionId, turnId),
    tools: () => deps.tools.all().map(toolInfo),
    sessionTools: ({ toolNames, clientTools }) => {
      const facts = { toolNames, clientTools: clientTools ?? [] } as Pick<TurnFacts, 'toolNames' | 'clientTools'>;
      return sessionTools(deps.tools, facts).map(toolInfo);
    },
    async flush(sessionId) {
      await Promise.all(live.inSession(sessionId).map((turn) => turn.flush()));
    },
  };

  return {
    service,
    async start() {
      await recoverTurns(deps, deps.exclusive);
      await queues.sweep();
      endBackground = startBackground(deps, watch, queues);
    },
    async close(graceMs) {
      closing = true;
      const allSettled = () => Promise.all(live.all().map((turn) => turn.settled));
      await queues.idle();
      await withinTime(allSettled(), graceMs);
      // Again and again, since a call that was being accepted when closing began still becomes a turn.
      while (live.all().length > 0) {
        for (const turn of live.all()) turn.abort.abort(new ProcessEnding());
        await allSettled();
      }
      deps.ending.fire();
      await endBackground?.();
      mirrors.close();
    },
  };
}
