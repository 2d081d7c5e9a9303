import { isTerminal, type TurnEvent } from './event.js';

/**
 * The events of one turn in memory, each kept once however many follow it. Followers are cursors: they hold a position
 * and are woken, never handed anything, so one that does not read costs nothing.
 */
export class EventLog {
  readonly #events: TurnEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #isEnded = false;
  #isDetached = false;
  #wakeScheduled = false;
  /** Index of the newest TurnStarted: what lies before it was told by an owner that was lost. */
  #telling = 0;

  /** True once the terminal event is in; nothing is added after it. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** True once nothing will be added here any more, whether or not the turn has ended. */
  get isOver(): boolean {
    return this.#isEnded || this.#isDetached;
  }

  /** Sequence of the newest event. */
  get sequence(): number {
    return this.#events.at(-1)?.sequence ?? 0;
  }

  get length(): number {
    return this.#events.length;
  }

  /** How many cursors wait for the next event. */
  get followers(): number {
    return this.#waiting.size;
  }

  add(event: TurnEvent): void {
    if (this.isOver) return;
    if (event.type === 'TurnStarted') this.#telling = this.#events.length;
    this.#events.push(event);
    this.#isEnded = isTerminal(event);
    this.#wakeSoon();
  }

  /** The turn goes on elsewhere: followers find the end of this log and look for it. */
  detach(): void {
    this.#isDetached = true;
    this.#wakeSoon();
  }

  /** Events from an index on; the log only grows, so an index stays valid. */
  at(index: number): TurnEvent | undefined {
    return this.#events[index];
  }

  /** Index of the first event that lies, whole or in part, after a sequence. */
  indexAfter(sequence: number): number {
    let low = this.#telling;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.sequence ?? 0) > sequence) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Calls back once, after the next change; the returned function takes the wish back. */
  onChange(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  // One wake for all that one read of the provider's socket brought: a follower then finds several deltas and merges
  // them, instead of being woken for each.
  #wakeSoon(): void {
    if (this.#wakeScheduled || this.#waiting.size === 0) return;
    this.#wakeScheduled = true;
    setImmediate(() => {
      this.#wakeScheduled = false;
      const woken = [...this.#waiting];
      this.#waiting.clear();
      for (const wake of woken) wake();
    });
  }
}
