import type { FeedSignal } from '../events/feed.js';
import { expireInputs } from './turns/answer-input.js';
import type { TurnDependencies } from './turns/dependencies.js';
import { keepLeases, obeyStops } from './turns/lease-keeper.js';
import { periodically } from './turns/periodically.js';
import type { Queues } from './turns/queues.js';
import { recoverTurns } from './turns/recover-turns.js';
import type { SessionWatch } from './turns/session-watch.js';

/** How often the database is asked whether a running turn is to be stopped. */
const stopCheckMs = 500;
/** How often the database is asked for new turns of the sessions that are followed. */
const sessionLookMs = 1_000;
/** How often the database is asked for turns without an owner, at most half a lease, and for queues that stand still. */
const recoveryMs = 1_000;

/** How often the database is asked for questions that were not answered in time. */
const expiryMs = 1_000;

/**
 * What a process does without being asked: keeps its leases, obeys wishes of other processes, looks for turns that it
 * can take up. Signals of other processes only make it look sooner. The returned function ends all of it.
 */
export function startBackground(deps: TurnDependencies, watch: SessionWatch, queues: Queues): () => Promise<void> {
  const { feed, log, settings } = deps;
  const recovery = Math.min(settings.leaseMs / 2, recoveryMs);
  const periodic = [
    periodically('leases', settings.leaseMs / 3, log, () => keepLeases(deps)),
    periodically('stops', stopCheckMs, log, () => obeyStops(deps)),
    periodically('sessions', sessionLookMs, log, () => watch.look()),
    periodically('expiry', expiryMs, log, () => expireInputs(deps)),
    periodically('recovery', recovery, log, () => recoverTurns(deps, false)),
    periodically('queues', recoveryMs, log, () => queues.sweep()),
  ];
  const soon = (work: Promise<void>) => {
    work.catch((error) => log.debug({ err: error }, 'a signal could not be followed up, the next round will'));
  };
  const hear = (signal: FeedSignal) => {
    if (signal.kind === 'stop') soon(obeyStops(deps));
    else if (signal.kind === 'session') watch.wake(signal.sessionId);
    else if (signal.kind === 'released') {
      soon(recoverTurns(deps, false));
      soon(queues.sweep());
    }
  };
  const endListening = feed?.onSignal(hear);
  return async () => {
    endListening?.();
    await Promise.all(periodic.map((end) => end()));
  };
}
