import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from './database-errors.js';

/**
 * Does a piece of work, and again while the database is away, with pauses of up to a second. The work must bear being
 * repeated: its answer may have been lost.
 *
 * @param onFailure called with the error before each pause
 * @throws what the work throws for another reason, or after `patienceMs` of pauses
 */
export async function whileUnavailable<Result>(
  work: () => Promise<Result>,
  patienceMs: number,
  onFailure: (error: unknown) => void,
): Promise<Result> {
  let pause = 100;
  for (let waited = 0; ; waited += pause) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || waited >= patienceMs) throw error;
      onFailure(error);
      pause = Math.min(pause * 2, 1_000);
      await sleep(pause);
    }
  }
}
