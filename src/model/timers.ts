/** Time as the model calls need it, so that tests can turn the clock themselves. */
export interface Timers {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Runs `run` once after `ms` and returns what cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
