import { isTerminal, type TurnEvent } from '../../events/event.js';
import type { EventLog } from '../../events/event-log.js';
import { LogCursor } from '../../events/log-cursor.js';

type Result = IteratorResult<TurnEvent, undefined>;
const finished: Result = { done: true, value: undefined };

/** A log to follow for now, and how to give it back. */
export interface FollowedLog {
  readonly log: EventLog;
  release(): void;
}

/**
 * Follows a turn wherever it runs: where one log is over and the turn is not, it looks for the next one and goes on
 * where it stands. `return` ends a waiting `next` at once, whatever that waits for.
 */
export class TurnFollower implements AsyncIterableIterator<TurnEvent, undefined, undefined> {
  readonly #find: () => Promise<FollowedLog | null>;
  #after: number;
  #followed: FollowedLog | null = null;
  #cursor: LogCursor | null = null;
  #isClosed = false;
  #interrupt: ((result: Result) => void) | null = null;

  /** @param find the log to follow now; null when the turn is gone, which ends the following. */
  constructor(find: () => Promise<FollowedLog | null>, first: FollowedLog, after: number) {
    this.#find = find;
    this.#after = after;
    this.#follow(first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    for (;;) {
      if (this.#isClosed) return finished;
      if (!this.#cursor) {
        await this.#findNext();
        continue;
      }
      const result = await this.#cursor.next();
      if (!result.done) {
        this.#after = result.value.sequence;
        if (isTerminal(result.value)) this.#close();
        return result;
      }
      this.#letGo();
    }
  }

  async return(): Promise<Result> {
    this.#close();
    return finished;
  }

  #follow(followed: FollowedLog): void {
    this.#followed = followed;
    const { log } = followed;
    // A place behind the end is none that anybody was told: the turn is told whole.
    if (log.isEnded && log.indexAfter(this.#after) === log.length) this.#after = 0;
    this.#cursor = new LogCursor(followed.log, this.#after);
  }

  #letGo(): void {
    void this.#cursor?.return();
    this.#cursor = null;
    this.#followed?.release();
    this.#followed = null;
  }

  #close(): void {
    this.#isClosed = true;
    this.#letGo();
    this.#interrupt?.(finished);
  }

  async #findNext(): Promise<void> {
    const interrupted = new Promise<Result>((resolve) => {
      this.#interrupt = resolve;
    });
    const finding = this.#find();
    const found = await Promise.race([finding, interrupted]);
    this.#interrupt = null;
    if (this.#isClosed) {
      // What was still being found when the follower left is given back when it comes.
      void finding.then((late) => late?.release()).catch(() => {});
      return;
    }
    if (found && 'log' in found) this.#follow(found);
    else this.#close();
  }
}
