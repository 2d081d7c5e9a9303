import type { TurnEvent } from '../../events/event.js';
import { LogCursor } from '../../events/log-cursor.js';
import { isEnded, replay, type StoredTurn } from '../../events/replay.js';
import type { TurnLog } from '../../events/turn-log.js';

/** How often the database is asked for news of a turn that another process runs. */
const pollMs = 500;

type Result = IteratorResult<TurnEvent, undefined>;
const finished: Result = { done: true, value: undefined };

/**
 * Follows a turn by what is stored of it: at once for one that has ended, by asking again for one that runs in another
 * process. Should the turn turn out to run here, its log takes over where this cursor stands. `return` ends a waiting
 * `next` at once, whatever that waits for.
 */
export class StoredCursor implements AsyncIterableIterator<TurnEvent, undefined, undefined> {
  readonly #load: () => Promise<StoredTurn | null>;
  readonly #findLog: () => TurnLog | undefined;
  #turn: StoredTurn | null;
  #pending: TurnEvent[];
  #after: number;
  #follower: LogCursor | null = null;
  #closed = false;
  #fresh = true;
  #settle: ((result: Result) => void) | null = null;
  #stopSleeping: (() => void) | null = null;

  constructor(
    turn: StoredTurn,
    after: number,
    load: () => Promise<StoredTurn | null>,
    findLog: () => TurnLog | undefined,
  ) {
    this.#load = load;
    this.#findLog = findLog;
    this.#turn = turn;
    this.#pending = replay(turn, after);
    this.#after = after;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#advance().then(resolve, reject);
    });
  }

  async return(): Promise<Result> {
    this.#closed = true;
    this.#settle?.(finished);
    this.#stopSleeping?.();
    await this.#follower?.return();
    return finished;
  }

  async #advance(): Promise<Result> {
    while (!this.#closed) {
      if (this.#follower) return this.#follower.next();
      const event = this.#pending.shift();
      if (event) {
        this.#after = event.sequence;
        return { done: false, value: event };
      }
      if (!this.#turn || isEnded(this.#turn)) break;
      const log = this.#findLog();
      if (log) this.#follower = new LogCursor(log, this.#after);
      else await this.#reload();
    }
    this.#closed = true;
    return finished;
  }

  async #reload(): Promise<void> {
    // The turn may have ended while it was being read, so the first look comes at once.
    if (!this.#fresh) await this.#sleep();
    this.#fresh = false;
    if (this.#closed) return;
    // A turn that is gone was deleted with its session: there is nothing more to tell.
    const turn = await this.#load();
    // Under another owner the numbers start over, and so does the telling.
    if (turn?.epoch !== this.#turn?.epoch) this.#after = 0;
    this.#turn = turn;
    this.#pending = turn ? replay(turn, this.#after) : [];
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      this.#stopSleeping = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
