import type { Logger } from 'pino';
import type { FeedSignal, TurnFeed } from '../feed.js';
import { keepConnected } from './connection.js';
import { type RedisLimits, redisLimits, within } from './deadline.js';
import { FeedHealth } from './health.js';
import { feedKeys } from './keys.js';
import { Outbox } from './outbox.js';
import { readFor } from './reader.js';
import { Watches } from './watches.js';
import { encodeBatch, encodeSignal } from './wire.js';
import { writeFrom } from './writer.js';

/** How long what was published last may take to arrive, when the feed is closed. */
const closeMs = 500;

export interface RedisFeedOptions {
  readonly url: string;
  /** What all processes on one database share, and those on another do not. */
  readonly namespace: string;
  /** Tells this process's signals from those of others. */
  readonly processId: string;
  readonly log: Logger;
  /** From 0 up to 1, for jitter. */
  readonly random?: () => number;
  readonly limits?: RedisLimits;
}

/**
 * A feed through streams of Redis: one for each turn, one for all signals; trimmed, and gone a minute after their last
 * entry. Returns at once and connects in the background, again and again when it has to. While Redis is away or frozen,
 * what is published is dropped, and watches go on with what the streams hold afterwards.
 */
export function openRedisFeed(options: RedisFeedOptions): TurnFeed {
  const { url, namespace, processId, log, random = Math.random, limits = redisLimits } = options;
  const keys = feedKeys(namespace, processId);
  const health = new FeedHealth(log, new URL(url).host);
  const listeners = new Set<(signal: FeedSignal) => void>();
  const onError = (error: unknown) => log.error({ err: error }, 'a listener to the feed has failed');
  const watches = new Watches(onError);
  const outbox = new Outbox({ size: 4 * 2 ** 20, signals: 1_000 }, (number, full) => {
    if (full) health.fail('room', 'buffer full');
    health.drop(number);
  });
  let saidUnreadable = false;

  function tell(signal: FeedSignal): void {
    for (const listen of [...listeners]) {
      try {
        if (listeners.has(listen)) listen(signal);
      } catch (error) {
        onError(error);
      }
    }
  }

  function onUnreadable(): void {
    if (saidUnreadable) return;
    saidUnreadable = true;
    log.warn('an entry in Redis was not understood and is left out: is another version running?');
  }

  const part = (name: 'reading' | 'writing') => ({
    url,
    name: `chatsession-${name}`,
    random,
    connectMs: limits.connectMs,
    onLost: (error: unknown) => health.fail(name, error),
  });
  const endConnections = [
    keepConnected({
      ...part('writing'),
      use: writeFrom(outbox, keys, processId, limits.answerMs),
      onWorking() {
        health.work('room');
        health.work('writing');
      },
    }),
    keepConnected({
      ...part('reading'),
      use: readFor({ watches, onSignal: tell, onUnreadable }, { keys, processId, limits }),
      onWorking: () => health.work('reading'),
    }),
  ];

  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    watches.clear();
    listeners.clear();
    await within(closeMs, outbox.drained()).catch(() => undefined);
    for (const end of endConnections) end();
    health.close();
  }

  return {
    publish(batch) {
      if (closing === null && batch.events.length > 0) outbox.addBatch(batch.turnId, encodeBatch(batch));
    },
    signal(signal) {
      if (closing === null) outbox.addSignal(encodeSignal(signal));
    },
    watch(turnId, onBatch) {
      if (closing !== null) return () => undefined;
      const end = watches.add(turnId, onBatch);
      outbox.addWake();
      return end;
    },
    onSignal(listen) {
      const entry = (signal: FeedSignal) => listen(signal);
      if (closing === null) listeners.add(entry);
      return () => listeners.delete(entry);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
