import type { TurnEvent } from '../../events/event.js';
import type { TurnEventCursor } from '../service.js';
import { Interruption } from './interruption.js';

type Result = IteratorResult<TurnEvent, undefined>;
const finished: Result = { done: true, value: undefined };

/** What a session is followed by. Turns are named by their numbers. */
export interface SessionSource {
  /** Resolves when there may be news behind a number. */
  wait(number: number): { readonly woken: Promise<void>; cancel(): void };
  /** The events of the first turn behind a number; null when none has begun, undefined when the session is gone. */
  next(number: number): Promise<{ readonly number: number; readonly events: TurnEventCursor } | null | undefined>;
}

/** Follows the turns of a session one after the other, for as long as there is a session. */
export class SessionFollower implements AsyncIterableIterator<TurnEvent, undefined, undefined> {
  readonly #source: SessionSource;
  readonly #leaving = new Interruption();
  #number: number;
  #events: TurnEventCursor | null;

  /**
   * @param number of the last turn that is not to be told any more
   * @param first what is left to tell of that turn
   */
  constructor(source: SessionSource, number: number, first: TurnEventCursor | null = null) {
    this.#source = source;
    this.#number = number;
    this.#events = first;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    while (!this.#leaving.isFired) {
      if (this.#events) {
        const result = await this.#events.next();
        if (!result.done) return result;
        this.#events = null;
      } else if (!(await this.#begin())) break;
    }
    return this.return();
  }

  async return(): Promise<Result> {
    this.#leaving.fire();
    await this.#events?.return?.();
    this.#events = null;
    return finished;
  }

  /** Waits for the next turn. False when there will be none. */
  async #begin(): Promise<boolean> {
    // First the wish to be woken, then the look: what happens in between is not missed.
    const { woken, cancel } = this.#source.wait(this.#number);
    try {
      const next = await this.#leaving.race(this.#source.next(this.#number), (late) => void late?.events.return?.());
      if (next === undefined) return false;
      if (next === null) {
        await this.#leaving.race(woken);
        return true;
      }
      this.#number = next.number;
      this.#events = next.events;
      return true;
    } finally {
      cancel();
    }
  }
}
