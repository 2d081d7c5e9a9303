import { isTerminal, type TurnEvent } from '../../events/event.js';
import type { EventLog } from '../../events/event-log.js';
import { LogCursor } from '../../events/log-cursor.js';
import { Interruption } from './interruption.js';

type Result = IteratorResult<TurnEvent, undefined>;
const finished: Result = { done: true, value: undefined };

/** A log to follow for now, and how to give it back. */
export interface FollowedLog {
  readonly log: EventLog;
  release(): void;
}

/**
 * Finds the log to follow now; null when the turn is gone, which ends the following. `leaving` fires when nobody waits
 * for the answer any more.
 */
export type FindLog = (leaving: Interruption) => Promise<FollowedLog | null>;

/**
 * Follows a turn wherever it runs: where one log is over and the turn is not, it looks for the next one and goes on
 * where it stands. `return` ends a waiting `next` at once, whatever that waits for.
 */
export class TurnFollower implements AsyncIterableIterator<TurnEvent, undefined, undefined> {
  readonly #find: FindLog;
  readonly #leaving = new Interruption();
  #after: number;
  #followed: FollowedLog | null = null;
  #cursor: LogCursor | null = null;

  constructor(find: FindLog, first: FollowedLog, after: number) {
    this.#find = find;
    this.#after = after;
    this.#follow(first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    while (!this.#leaving.isFired) {
      if (!this.#cursor) {
        const found = await this.#leaving.race(this.#find(this.#leaving), (late) => late?.release());
        if (!found) break;
        this.#follow(found);
        continue;
      }
      const result = await this.#cursor.next();
      if (!result.done) {
        this.#after = result.value.sequence;
        if (isTerminal(result.value)) void this.return();
        return result;
      }
      const isTold = this.#isTold;
      this.#letGo();
      if (isTold) break;
    }
    return this.return();
  }

  async return(): Promise<Result> {
    this.#leaving.fire();
    this.#letGo();
    return finished;
  }

  /** Whether all of the turn was told. A place behind its end is none that anybody was told. */
  get #isTold(): boolean {
    const log = this.#followed?.log;
    return log?.isEnded === true && this.#after <= log.sequence;
  }

  #follow(followed: FollowedLog): void {
    this.#followed = followed;
    const { log } = followed;
    // Then the turn is told whole.
    if (log.isEnded && this.#after > log.sequence) this.#after = 0;
    this.#cursor = new LogCursor(log, this.#after);
  }

  #letGo(): void {
    void this.#cursor?.return();
    this.#cursor = null;
    this.#followed?.release();
    this.#followed = null;
  }
}
