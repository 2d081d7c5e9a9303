import type { EventSource } from './cursor.js';
import { isTerminal, type TurnEventBody } from './event.js';
import { EventLog } from './event-log.js';
import { extendLayout, type LayoutEntry, sequenceLength } from './layout.js';
import { replay, type StoredTurn } from './replay.js';

/** Which turn a log belongs to. */
export interface LoggedTurn extends EventSource {
  readonly sessionId: string;
  /** Sequence before its first event. */
  readonly eventBase: number;
}

/** Called with what is told, for those who follow in other processes; `from` is the sequence before it. */
export type Publish = (body: TurnEventBody, at: Date, from: number) => void;

/** The log of a turn that this process runs: what happens is appended here, once, for all who follow. */
export class TurnLog {
  readonly events = new EventLog();
  readonly #layout: LayoutEntry[] = [];
  #sequence: number;

  constructor(
    readonly turn: LoggedTurn,
    private readonly now: () => Date,
    private readonly publish: Publish = () => {},
  ) {
    this.#sequence = turn.eventBase;
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

  /** Takes up what is stored of the turn, which others have told already or can read for themselves. */
  restore(stored: StoredTurn): void {
    this.#layout.push(...stored.layout);
    for (const event of replay(stored, 0)) {
      this.#sequence = event.sequence;
      this.events.add(event);
    }
  }

  /** Adds an event; `at` is given when its time was stored before it is told. */
  append(body: TurnEventBody, at: Date = this.now()): void {
    if (this.events.isOver) return;
    const length = sequenceLength(body);
    if (length === 0) return;
    const { sessionId, turnId, turnNumber } = this.turn;
    const from = this.#sequence;
    this.#sequence += length;
    extendLayout(this.#layout, body, at.getTime());
    // The body last: V8 adds properties to a copy one by one, which takes ten times as long.
    this.events.add({ sessionId, turnId, turnNumber, sequence: this.#sequence, at, ...body });
    // The end is told by the database: it must not outrun what it stands for.
    if (!isTerminal(body)) this.publish(body, at, from);
  }
}
