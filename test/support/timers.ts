import type { Timers } from '../../src/model/timers.js';

export interface ManualTimers extends Timers {
  /** Moves the clock and runs what becomes due, in order. */
  advance(ms: number): void;
  /** Timers that have neither run nor been cancelled. */
  readonly pending: number;
}

/** A clock that only moves when a test says so. */
export function createManualTimers(): ManualTimers {
  let now = 0;
  const due = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    now: () => now,
    after(ms, run) {
      const entry = { at: now + ms, run };
      due.add(entry);
      return () => due.delete(entry);
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const next = [...due].filter((entry) => entry.at <= until).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        due.delete(next);
        now = next.at;
        next.run();
      }
      now = until;
    },
    get pending() {
      return due.size;
    },
  };
}
