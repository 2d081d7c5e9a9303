import type { TurnEvent } from '../../events/event.js';
import { EventLog } from '../../events/event-log.js';
import type { FeedBatch, TurnFeed } from '../../events/feed.js';
import { sequenceLength } from '../../events/layout.js';
import { cutBefore, isEnded, replay, type StoredTurn } from '../../events/replay.js';

/** How long nothing may have been heard of a turn before the database is asked. */
const silenceMs = 500;
/** Batches kept at most while what lies before them is read. */
const mostAhead = 500;

export interface MirrorSource {
  readonly feed: TurnFeed | null;
  /** Null when the turn is gone. May reject while the database is away. */
  load(): Promise<StoredTurn | null>;
  /** Whether the turn runs in this process by now, so that its own log is there to follow. */
  isLive(): boolean;
}

/**
 * The log of a turn that runs in another process, or waits: kept once for all who follow it here. The feed brings what
 * is told there as it is told; what it lost, and everything while there is none, is read from the database.
 */
export class TurnMirror {
  readonly log = new EventLog();
  readonly #source: MirrorSource;
  readonly #endWatch: () => void;
  #epoch: number;
  /** What the feed told before its turn, in its order: behind a gap, or of an owner that is not known yet. */
  #ahead: FeedBatch[] = [];
  #isEnded = false;
  #timer: NodeJS.Timeout | null = null;
  #isReading = false;
  #isStale = false;
  #isClosed = false;

  constructor(turn: StoredTurn, source: MirrorSource) {
    this.#source = source;
    this.#epoch = turn.epoch;
    this.#take(turn);
    this.#endWatch = this.#isEnded
      ? () => {}
      : (source.feed?.watch(turn.id, (batch) => this.#hear(batch)) ?? (() => {}));
    this.#listen();
    // The turn may have moved on while it was being read.
    if (!this.#isEnded) this.refresh();
  }

  /** Looks into the database at once, or again when that is already being done. */
  refresh(): void {
    this.#isStale = true;
    if (!this.#isReading) void this.#read();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#endWatch();
    this.log.detach();
  }

  #listen(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#isEnded || this.#isClosed) return;
    this.#timer = setTimeout(() => this.refresh(), silenceMs);
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      if (this.#source.isLive()) {
        this.close();
        break;
      }
      try {
        const turn = await this.#source.load();
        if (this.#isClosed) break;
        if (turn) this.#take(turn);
        else this.close();
      } catch {
        // The database is away: what is missing comes when it is back.
      }
    }
    this.#isReading = false;
    this.#listen();
  }

  #take(turn: StoredTurn): void {
    if (turn.epoch < this.#epoch) return;
    this.#epoch = turn.epoch;
    for (const event of replay(turn, this.log.sequence)) this.log.add(event);
    this.#isEnded = isEnded(turn);
    if (this.#isEnded) this.log.detach();
    this.#catchUp();
  }

  #hear(batch: FeedBatch): void {
    // An owner that was replaced, and does not know it yet, tells nobody anything.
    if (this.#isClosed || batch.epoch < this.#epoch) return;
    if (this.#add(batch)) {
      this.#catchUp();
      this.#listen();
      return;
    }
    // A new owner, or a gap: the database knows. It is asked once; what it does not know yet comes with the next look.
    const isExpected = this.#ahead.at(-1)?.epoch === batch.epoch;
    if (this.#ahead.length === mostAhead) this.#ahead.shift();
    this.#ahead.push(batch);
    if (!isExpected) this.refresh();
  }

  #catchUp(): void {
    if (this.#ahead.length === 0) return;
    this.#ahead = this.#ahead.filter((batch) => batch.epoch >= this.#epoch && !this.#add(batch));
  }

  /** Takes what is new in a batch. False when something is missing before it. */
  #add({ turnId, epoch, from, events }: FeedBatch): boolean {
    const last = this.log.at(this.log.length - 1);
    if (epoch > this.#epoch || from > this.log.sequence || !last) return false;
    let sequence = from;
    for (const { body, at } of events) {
      sequence += sequenceLength(body);
      if (sequence <= this.log.sequence) continue;
      const { sessionId, turnNumber } = last;
      const rest = cutBefore(body, sequence, this.log.sequence);
      const event: TurnEvent = { ...rest, sessionId, turnId, turnNumber, sequence, at: new Date(at) };
      this.log.add(event);
    }
    return true;
  }
}
