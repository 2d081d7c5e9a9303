import { type EventSource, encodeCursor } from './cursor.js';
import type { TurnEvent, TurnEventBody } from './event.js';
import { extendLayout, type LayoutEntry, sequenceLength } from './layout.js';

/** Which turn a log belongs to. */
export interface LoggedTurn extends EventSource {
  readonly sessionId: string;
}

/** Whether an event ends its turn. */
export const isTerminal = ({ type }: TurnEventBody) =>
  type === 'TurnCompleted' || type === 'TurnFailed' || type === 'TurnStopped';

/**
 * The events of one running turn, in memory, each kept once however many follow it. Followers are cursors: they hold a
 * position and are woken, never handed anything, so one that does not read costs nothing.
 */
export class TurnLog {
  readonly #events: TurnEvent[] = [];
  readonly #layout: LayoutEntry[] = [];
  readonly #waiting = new Set<() => void>();
  #sequence = 0;
  #ended = false;
  #wakeScheduled = false;

  constructor(
    readonly turn: LoggedTurn,
    private readonly now: () => Date,
  ) {}

  /** True once the terminal event is in; nothing is appended after it. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Sequence of the newest event. */
  get sequence(): number {
    return this.#sequence;
  }

  get layout(): readonly LayoutEntry[] {
    return this.#layout;
  }

  /** The layout as it will be with more events, for the statement that has to store them before they are told. */
  layoutWith(bodies: readonly TurnEventBody[], at: Date): readonly LayoutEntry[] {
    const layout = [...this.#layout];
    for (const body of bodies) extendLayout(layout, body, at.getTime());
    return layout;
  }

  /** How many cursors wait for the next event. */
  get followers(): number {
    return this.#waiting.size;
  }

  /** Adds an event; `at` is given when its time was stored before it is told. */
  append(body: TurnEventBody, at: Date = this.now()): void {
    if (this.#ended) return;
    const length = sequenceLength(body);
    if (length === 0) return;
    const { sessionId, turnId } = this.turn;
    this.#sequence += length;
    this.#events.push({
      ...body,
      sessionId,
      turnId,
      sequence: this.#sequence,
      cursor: encodeCursor(this.turn, this.#sequence),
      at,
    });
    extendLayout(this.#layout, body, at.getTime());
    this.#ended = isTerminal(body);
    this.#wake();
  }

  /** Events from an index on; the log only grows, so an index stays valid. */
  at(index: number): TurnEvent | undefined {
    return this.#events[index];
  }

  /** Index of the first event that lies, whole or in part, after a sequence. */
  indexAfter(sequence: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.sequence ?? 0) > sequence) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Calls back once, after the next append; the returned function takes the wish back. */
  onAppend(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  // One wake for all that one read of the provider's socket brought: a follower then finds several deltas and merges
  // them, instead of being woken for each.
  #wake(): void {
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
