import { type Backoff, backoffMs } from './backoff.js';
import type { ModelError } from './port.js';
import { systemTimers, type Timers } from './timers.js';

const backoff: Backoff = { firstMs: 500, longestMs: 8_000 };
/** A provider that asks for more than this is not worth waiting for: the turn fails and its client decides. */
const longestRetryAfterMs = 10_000;

/**
 * How long to wait before the next attempt, in milliseconds; null: do not try again. A provider's wish is kept to,
 * with a little chance on top.
 *
 * Counting attempts, and not retrying once anything was received, is the caller's part.
 *
 * @param attempt the attempt that has failed, from 1
 * @param random a number from 0 to 1, exclusive
 */
export function retryDelayMs(error: ModelError, attempt: number, random: number): number | null {
  if (!error.retryable) return null;
  const delay = backoffMs(backoff, attempt, random);
  if (error.retryAfterMs === null) return delay;
  if (error.retryAfterMs > longestRetryAfterMs) return null;
  return Math.max(delay, Math.min(error.retryAfterMs + Math.round(random * backoff.firstMs), longestRetryAfterMs));
}

/** Waits. @throws the signal's reason, at once, when it aborts. */
export function wait(ms: number, signal: AbortSignal, timers: Timers = systemTimers): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = timers.after(ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
