import type { TurnEvent } from '../../events/event.js';
import { LogCursor } from '../../events/log-cursor.js';
import { replay, type StoredTurn } from '../../events/replay.js';
import type { TurnLog } from '../../events/turn-log.js';

/** How often the database is asked for news of a turn that another process runs. */
const pollMs = 500;

type Result = IteratorResult<TurnEvent, undefined>;
const finished: Result = { done: true, value: undefined };
const isEnded = (turn: StoredTurn) => turn.layout.at(-1)?.type === 'end';

/**
 * What lies after a position. A turn that has ended before it is from a run whose last words were told but lost: it is
 * told anew, so that its reader learns of the end.
 */
function eventsAfter(turn: StoredTurn, after: number): TurnEvent[] {
  const isUnreached = isEnded(turn) && after > 0 && replay(turn, after - 1).length === 0;
  return replay(turn, isUnreached ? 0 : after);
}

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
    this.#pending = eventsAfter(turn, after);
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
    this.#turn = await this.#load();
    this.#pending = this.#turn ? eventsAfter(this.#turn, this.#after) : [];
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
