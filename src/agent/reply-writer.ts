import type { TurnLog } from '../events/turn-log.js';

/** Longest time that streamed text stays in memory alone. Below a second, so that a crash loses at most that. */
const flushAfterMs = 750;

export interface StoredReply {
  readonly messageId: string;
  readonly content: string;
  readonly stored: boolean;
}

/**
 * Writes one assistant message as it streams in: into the turn's log at once, into the database at least once a
 * second. Flushes never overlap, and one that fails is made up for by the next.
 */
export class ReplyWriter {
  readonly #store: (reply: StoredReply) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #content = '';
  #thinking = '';
  #stored = false;
  #storedLength = 0;
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();

  constructor(
    private readonly log: TurnLog,
    readonly messageId: string,
    readonly step: number,
    options: { store(reply: StoredReply): Promise<void>; onError(error: unknown): void },
  ) {
    this.#store = options.store;
    this.#onError = options.onError;
  }

  get content(): string {
    return this.#content;
  }

  get thinking(): string {
    return this.#thinking;
  }

  /** Whether it says anything: a blank reply is never stored, since providers refuse a history with one. */
  get saysSomething(): boolean {
    return this.#content.trim() !== '';
  }

  /** True when the message is in the database already, perhaps shorter than it is now. */
  get stored(): boolean {
    return this.#stored;
  }

  text(delta: string): void {
    this.#content += delta;
    this.log.append({ type: 'TextDelta', step: this.step, messageId: this.messageId, delta });
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs);
  }

  thought(delta: string): void {
    this.#thinking += delta;
    this.log.append({ type: 'ThinkingDelta', step: this.step, delta });
  }

  /** Stores what has come in so far. Never rejects: the text stays here and the next flush takes it along. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#storeNow());
    return this.#flushing;
  }

  /** No more flushes; resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#cancelTimer();
    await this.#flushing;
    this.#cancelTimer();
  }

  #cancelTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #storeNow(): Promise<void> {
    this.#cancelTimer();
    const content = this.#content;
    if (content.length === this.#storedLength || !this.saysSomething) return;
    try {
      await this.#store({ messageId: this.messageId, content, stored: this.#stored });
      this.#stored = true;
      this.#storedLength = content.length;
    } catch (error) {
      this.#onError(error);
      this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs);
    }
  }
}
