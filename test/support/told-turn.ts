import type { TurnEvent, TurnEventBody } from '../../src/events/event.js';
import type { FeedBatch, FeedSignal, TurnFeed } from '../../src/events/feed.js';
import { layoutLength } from '../../src/events/layout.js';
import type { StoredTurn } from '../../src/events/replay.js';
import { TurnLog } from '../../src/events/turn-log.js';

const turnId = '00000000-0000-7000-8000-00000000000a';
const messageId = 'message';

export const saying = (delta: string): TurnEventBody => ({ type: 'TextDelta', step: 1, messageId, delta });

/** How a turn that somebody else runs looks from here: what its owner stores, and what it tells the feed. */
export interface ToldTurn {
  readonly feed: TurnFeed;
  /** As it is in the database now. */
  stored(): StoredTurn;
  /** The owner's log. */
  readonly log: () => TurnLog;
  /** Appends to the owner's log, and publishes it. */
  tell(body: TurnEventBody): void;
  /** Publishes something by hand. */
  publish(batch: Omit<FeedBatch, 'turnId'>): void;
  signal(): void;
  /** Stores all that was told. */
  store(): void;
  /** Stores and tells the end. */
  end(): void;
  /** Another owner begins anew with what is stored of whole steps: nothing but the start. */
  takeOver(): void;
  /** How many watch the feed. */
  readonly watchers: () => number;
}

/**
 * A turn of one reply, started and stored.
 *
 * @param deliver decides whether and when what is published arrives
 */
export function startToldTurn(deliver: (arrive: () => void) => void = (arrive) => arrive()): ToldTurn {
  const watching = new Set<(batch: FeedBatch) => void>();
  const listening = new Set<(signal: FeedSignal) => void>();
  const publish = (batch: FeedBatch) =>
    deliver(() => {
      for (const watcher of [...watching]) watcher(batch);
    });
  let epoch = 1;
  let text = '';
  const open = (eventBase: number): TurnLog => {
    const owner = epoch;
    const turn = { sessionId: 'session', turnId, turnNumber: 1, eventBase };
    return new TurnLog(
      turn,
      () => new Date(0),
      (body, at, from) => publish({ turnId, epoch: owner, from, events: [{ body, at: at.getTime() }] }),
    );
  };
  const snapshot = (): StoredTurn => ({
    id: turnId,
    sessionId: 'session',
    number: 1,
    epoch,
    eventBase: log.turn.eventBase,
    status: log.events.isEnded ? 'COMPLETED' : 'RUNNING',
    errorCode: null,
    errorRetryable: null,
    layout: [...log.layout],
    texts: new Map([[messageId, text]]),
  });
  let log = open(0);
  log.append({ type: 'TurnStarted' });
  let stored = snapshot();
  const told: ToldTurn = {
    feed: {
      publish,
      signal: () => {},
      watch(_turnId, onBatch) {
        watching.add(onBatch);
        return () => watching.delete(onBatch);
      },
      onSignal(listen) {
        listening.add(listen);
        return () => listening.delete(listen);
      },
      close: async () => {},
    },
    stored: () => stored,
    log: () => log,
    tell(body) {
      if (body.type === 'TextDelta') text += body.delta;
      log.append(body);
    },
    publish: (batch) => publish({ turnId, ...batch }),
    signal: () =>
      deliver(() => {
        for (const listen of [...listening]) listen({ kind: 'turn', turnId });
      }),
    store() {
      stored = snapshot();
    },
    end() {
      log.append({ type: 'TurnCompleted' });
      stored = snapshot();
      told.signal();
    },
    takeOver() {
      epoch += 1;
      text = '';
      log = open(stored.eventBase + layoutLength(stored.layout) + 1_000);
      log.append({ type: 'TurnStarted' });
      stored = snapshot();
    },
    watchers: () => watching.size,
  };
  return told;
}

/** What a reader shows in the end: texts joined, and nothing of a telling that another one has replaced. */
export function shown(events: readonly TurnEvent[]): string[] {
  const lines: string[] = [];
  for (const event of events) {
    if (event.type === 'TurnStarted') lines.length = 0;
    const last = lines.at(-1);
    if (event.type !== 'TextDelta') lines.push(event.type);
    else if (last?.startsWith('text ')) lines[lines.length - 1] = last + event.delta;
    else lines.push(`text ${event.delta}`);
  }
  return lines;
}
