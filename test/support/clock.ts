export interface Clock {
  /** For AppOverrides and every other `now` that gives a Date. */
  readonly now: () => Date;
  advance(ms: number): void;
  /** Clocks of real machines go back as well. */
  set(time: string | Date): void;
}

/**
 * A wall clock that stands still until a test moves it. It rules what the app asks the time for: events, durations,
 * seeded messages, tokens. Leases and the times of rows are ruled by the database's clock, timers by timers.ts.
 */
export function createClock(start: string | Date = '2026-01-01T00:00:00.000Z'): Clock {
  let time = new Date(start).getTime();
  return {
    now: () => new Date(time),
    advance(ms) {
      time += ms;
    },
    set(to) {
      time = new Date(to).getTime();
    },
  };
}
