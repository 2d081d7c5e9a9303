import { type LayoutEntry, withText } from '../events/layout.js';
import type { TurnLog } from '../events/turn-log.js';

/** Longest time that streamed text stays in memory alone. Below a second, so that a crash loses at most that. */
const flushAfterMs = 750;

export interface StoredReply {
  readonly messageId: string;
  /** Null while it says nothing. */
  readonly content: string | null;
  readonly layout: readonly LayoutEntry[];
}

/**
 * Writes one assistant message as it streams in: into the turn's log at once, with the thinking before it, into the
 * database at least once a second. Flushes never overlap, and one that fails is made up for by the next.
 */
export class ReplyWriter {
  readonly #store: (reply: StoredReply) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #base: string;
  #content: string;
  #thinking = '';
  #storedSequence = 0;
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #isHandedOver = false;

  constructor(
    private readonly log: TurnLog,
    readonly messageId: string,
    readonly step: number,
    options: {
      /** What complete steps have written of the message already. */
      readonly base: string;
      store(reply: StoredReply): Promise<void>;
      onError(error: unknown): void;
    },
  ) {
    this.#base = options.base;
    this.#content = options.base;
    this.#store = options.store;
    this.#onError = options.onError;
  }

  get content(): string {
    return this.#content;
  }

  /** What this step has written of the content. */
  get written(): string {
    return this.#content.slice(this.#base.length);
  }

  get thinking(): string {
    return this.#thinking;
  }

  /** Whether it says anything: a blank reply is never stored, since providers refuse a history with one. */
  get saysSomething(): boolean {
    return this.#content.trim() !== '';
  }

  text(delta: string): void {
    this.#content += delta;
    this.log.append({ type: 'TextDelta', step: this.step, messageId: this.messageId, delta });
    this.#flushSoon();
  }

  thought(delta: string): void {
    this.#thinking += delta;
    this.log.append({ type: 'ThinkingDelta', step: this.step, delta });
    this.#flushSoon();
  }

  /** A layout as it is stored: while the message is not, its text stands in the layout itself. */
  layoutOf(layout: readonly LayoutEntry[]): readonly LayoutEntry[] {
    return this.saysSomething ? layout : withText(layout, this.messageId, this.#content);
  }

  /** Stores what has come in so far. Never rejects: the text stays here and the next flush takes it along. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#storeNow());
    return this.#flushing;
  }

  /** The text is stored by another statement now: a flush only waits for it. */
  handOver(storing: Promise<unknown>): void {
    this.#isHandedOver = true;
    this.#cancelTimer();
    this.#flushing = storing.then(
      () => {},
      () => {},
    );
  }

  /** No more flushes; resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#cancelTimer();
    await this.#flushing;
    this.#cancelTimer();
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs);
  }

  #cancelTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #storeNow(): Promise<void> {
    this.#cancelTimer();
    const { sequence } = this.log;
    if (this.#isHandedOver) return;
    if (sequence === this.#storedSequence || (this.written === '' && this.#thinking === '')) return;
    try {
      await this.#store({
        messageId: this.messageId,
        content: this.saysSomething ? this.#content : null,
        layout: this.layoutOf(this.log.layout),
      });
      this.#storedSequence = sequence;
    } catch (error) {
      this.#onError(error);
      this.#flushSoon();
    }
  }
}
