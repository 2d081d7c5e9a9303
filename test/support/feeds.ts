import type { FeedBatch, TurnFeed } from '../../src/events/feed.js';
import { openRedisFeed, type RedisFeedOptions } from '../../src/events/redis/open-feed.js';
import { newId } from '../../src/ids.js';
import { recordingLog } from './log.js';

/** A feed as one process has it, with its log. */
export interface TestFeed extends TurnFeed {
  readonly lines: readonly string[];
  waitForLog(text: string): Promise<void>;
  /** Empties `lines`, so that `waitForLog` waits for what is still to come. */
  forgetLog(): void;
}

/** Returns at once: the feed connects in the background. */
export function openFeed(options: Pick<RedisFeedOptions, 'url' | 'namespace' | 'limits'>): TestFeed {
  const { log, lines, waitFor, forget } = recordingLog();
  return { ...openRedisFeed({ ...options, processId: newId(), log }), lines, waitForLog: waitFor, forgetLog: forget };
}

/**
 * Limits for tests in which Redis is well: a busy machine is not taken for a fault, and a read that nobody wakes comes
 * too late for any test.
 */
export const patience = { connectMs: 5_000, answerMs: 5_000, waitMs: 60_000 };

/** One that carries events already. */
export async function openConnectedFeed(
  options: Pick<RedisFeedOptions, 'url' | 'namespace' | 'limits'>,
): Promise<TestFeed> {
  const feed = openFeed(options);
  await feed.waitForLog('Redis carries events');
  return feed;
}

/** The nth stretch of a turn: one delta that says its number. */
export function numbered(turnId: string, n: number): FeedBatch {
  const delta = `${n}`.padStart(6);
  return {
    turnId,
    epoch: 1,
    from: 1 + n * delta.length,
    events: [{ body: { type: 'TextDelta', step: 0, messageId: 'm', delta }, at: 1_700_000_000_000 + n }],
  };
}

export type Collected = ReturnType<typeof collectBatches>;

/** Keeps what a watch was told; `until` resolves once the nth stretch is among it. */
export function collectBatches() {
  const batches: FeedBatch[] = [];
  const waiting = new Set<() => void>();
  const numbers = () => batches.map(({ from }) => (from - 1) / 6);
  return {
    batches,
    numbers,
    onBatch(batch: FeedBatch) {
      batches.push(batch);
      for (const check of waiting) check();
    },
    until(n: number): Promise<void> {
      return new Promise((resolve) => {
        const check = () => {
          if (batches.at(-1)?.from !== 1 + n * 6) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
    },
  };
}
