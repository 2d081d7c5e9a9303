import type { TurnEvent } from './event.js';
import type { EventLog } from './event-log.js';
import { cutBefore } from './replay.js';

/** Longest delta that merging makes, in UTF-16 units: a bound on the frame a slow reader is sent. */
const longestMerge = 32_768;

type Result = IteratorResult<TurnEvent, undefined>;
const finished: Result = { done: true, value: undefined };

/**
 * Follows a log from a sequence on, until nothing more comes there. Not a generator: a generator that waits runs nothing until its wait is
 * over, while `return` here ends a waiting `next` at once.
 */
export class LogCursor implements AsyncIterableIterator<TurnEvent, undefined, undefined> {
  readonly #log: EventLog;
  #index: number;
  #after: number;
  #closed = false;
  #waiting: { resolve(result: Result): void; cancel(): void } | null = null;

  constructor(log: EventLog, after: number) {
    this.#log = log;
    this.#index = log.indexAfter(after);
    this.#after = after;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    if (this.#closed) return finished;
    const event = this.#take();
    if (event) return { done: false, value: event };
    if (this.#log.isOver) return this.return();
    return new Promise<Result>((resolve) => {
      const cancel = this.#log.onChange(() => {
        this.#waiting = null;
        resolve(this.next());
      });
      this.#waiting = { resolve, cancel };
    });
  }

  async return(): Promise<Result> {
    this.#closed = true;
    this.#waiting?.cancel();
    this.#waiting?.resolve(finished);
    this.#waiting = null;
    return finished;
  }

  #take(): TurnEvent | null {
    let first = this.#log.at(this.#index);
    // A follower of another process may have been told more than this log knew when the cursor was made.
    while (first && first.sequence <= this.#after) {
      this.#index += 1;
      first = this.#log.at(this.#index);
    }
    if (!first) return null;
    this.#index += 1;
    let event = cutBefore(first, first.sequence, this.#after);
    if (event.type !== 'TextDelta' && event.type !== 'ThinkingDelta') return event;
    const parts = [event.delta];
    let length = event.delta.length;
    for (let next = this.#log.at(this.#index); next && length < longestMerge; next = this.#log.at(this.#index)) {
      if (next.type !== event.type || next.step !== event.step) break;
      parts.push(next.delta);
      length += next.delta.length;
      event = next;
      this.#index += 1;
    }
    return parts.length === 1 ? event : { ...event, delta: parts.join('') };
  }
}
