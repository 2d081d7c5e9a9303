import { deferred } from './deferred.js';

/** A place where work waits until a test lets it go on. */
export interface Hold {
  /** What the work awaits there. */
  readonly wait: () => Promise<void>;
  /** Resolves when so many wait. */
  whenWaiting(count: number): Promise<void>;
  /** Lets those go on that wait, and nobody waits from now on. */
  release(): void;
}

export function createHold(): Hold {
  const released = deferred();
  let waiting = 0;
  let isReleased = false;
  const checks = new Set<() => void>();
  return {
    async wait() {
      if (isReleased) return;
      waiting += 1;
      for (const check of checks) check();
      await released.promise;
    },
    whenWaiting: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (waiting < count) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
    release() {
      isReleased = true;
      released.resolve();
    },
  };
}
