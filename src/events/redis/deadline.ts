/** How long Redis may take, in milliseconds. */
export interface RedisLimits {
  /** From the first packet to a connection that takes commands. */
  readonly connectMs: number;
  /** From a command to its answer; for a read that waits, from the end of its wait. */
  readonly answerMs: number;
  /** How long a read waits at Redis when there is nothing: also how soon a Redis that says nothing is noticed. */
  readonly waitMs: number;
}

export const redisLimits: RedisLimits = { connectMs: 1_000, answerMs: 500, waitMs: 400 };

/** Redis took longer than it may: frozen, overloaded, or gone without a word. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/**
 * The outcome of the work, if it comes in time.
 *
 * @throws NoAnswer when it does not.
 */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false;
    // A process that was busy itself finds timer and answer due at once, and timers run first: the answer is let in.
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (!settled) reject(new NoAnswer(ms));
      });
    }, ms);
    const settle = () => {
      settled = true;
      clearTimeout(timer);
    };
    work.then(resolve, reject).finally(settle);
  });
}
