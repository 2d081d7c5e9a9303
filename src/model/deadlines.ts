import type { Timers } from './timers.js';

export type Deadline = 'idle' | 'total';

/** The two deadlines of one model call. */
export interface Deadlines {
  /** The provider gave a sign of life: the idle time starts anew. */
  touch(): void;
  /** Until the next touch it is not the provider that is waited for, so no idle time passes. */
  hold(): void;
  /** From now on the idle time is at most this long. */
  shortenIdle(ms: number): void;
  /** The deadline that has passed, if any. */
  readonly expired: Deadline | null;
  clear(): void;
}

/**
 * Watches a call. The SDK's own timeout ends with the response headers, so a provider that falls silent in the middle of
 * a stream would never be noticed. `touch` is called for every chunk, so it only notes the time: the timer looks at the
 * note when it fires and sets itself again.
 */
export function startDeadlines(
  { idleMs, totalMs }: { idleMs: number; totalMs: number },
  timers: Timers,
  onExpire: (deadline: Deadline) => void,
): Deadlines {
  let expired: Deadline | null = null;
  let idle = idleMs;
  let isHeld = false;
  let touchedAt = timers.now();
  let cancelIdle = timers.after(idle, checkIdle);
  const cancelTotal = timers.after(totalMs, () => expire('total'));

  function checkIdle(): void {
    const left = isHeld ? idle : touchedAt + idle - timers.now();
    if (left > 0) cancelIdle = timers.after(left, checkIdle);
    else expire('idle');
  }

  function expire(deadline: Deadline): void {
    clear();
    expired = deadline;
    onExpire(deadline);
  }

  function clear(): void {
    cancelIdle();
    cancelTotal();
  }

  return {
    touch() {
      isHeld = false;
      touchedAt = timers.now();
    },
    hold() {
      isHeld = true;
    },
    shortenIdle(ms) {
      if (ms >= idle || expired) return;
      idle = ms;
      cancelIdle();
      cancelIdle = timers.after(Math.max(0, touchedAt + idle - timers.now()), checkIdle);
    },
    get expired() {
      return expired;
    },
    clear,
  };
}
