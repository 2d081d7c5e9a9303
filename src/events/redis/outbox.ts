/** What is sent to Redis in one go, encoded. */
export interface Outgoing {
  /** By turn, in the order in which they were published. */
  readonly batches: ReadonlyMap<string, readonly string[]>;
  readonly signals: ReadonlySet<string>;
  readonly wake: boolean;
}

interface Limits {
  /** Length of all batches that may wait, in UTF-16 units. */
  readonly size: number;
  readonly signals: number;
}

/**
 * Holds what was published until it is sent, within limits. Only open while there is a connection: what comes at other
 * times is dropped, since it would be old news when it could be sent.
 */
export class Outbox {
  readonly #limits: Limits;
  readonly #onDrop: (number: number, full: boolean) => void;
  #open = false;
  #batches = new Map<string, string[]>();
  #signals = new Set<string>();
  #wake = false;
  #size = 0;
  /** What was taken and is not known to have arrived. */
  #sending: Outgoing | null = null;
  #onFilled: (() => void) | null = null;
  #onDrained: (() => void)[] = [];

  constructor(limits: Limits, onDrop: (number: number, full: boolean) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  addBatch(turnId: string, encoded: string): void {
    if (!this.#open || this.#size + encoded.length > this.#limits.size) {
      this.#onDrop(1, this.#open);
      return;
    }
    const batches = this.#batches.get(turnId);
    if (batches) batches.push(encoded);
    else this.#batches.set(turnId, [encoded]);
    this.#size += encoded.length;
    this.#onFilled?.();
  }

  /** The same signal is sent once, however often it is given before. */
  addSignal(encoded: string): void {
    if (!this.#open || this.#signals.size >= this.#limits.signals) {
      this.#onDrop(1, this.#open);
      return;
    }
    this.#signals.add(encoded);
    this.#onFilled?.();
  }

  addWake(): void {
    if (!this.#open) return;
    this.#wake = true;
    this.#onFilled?.();
  }

  open(): void {
    this.#open = true;
  }

  /** Drops everything, also what is on its way, and takes nothing more. */
  shut(): void {
    const lost = count(this.#content()) + (this.#sending ? count(this.#sending) : 0);
    if (lost > 0) this.#onDrop(lost, false);
    this.#open = false;
    this.#clear();
    this.#sending = null;
    this.#onFilled?.();
    this.#tellDrained();
  }

  /** Resolves when there is something to send, or when nothing more will come. */
  async filled(): Promise<void> {
    if (!this.#open || !this.#isEmpty()) return;
    await new Promise<void>((resolve) => {
      this.#onFilled = resolve;
    });
    this.#onFilled = null;
  }

  take(): Outgoing {
    const outgoing = this.#content();
    this.#sending = outgoing;
    this.#clear();
    return outgoing;
  }

  /** What was taken has arrived. */
  sent(): void {
    this.#sending = null;
    if (this.#isEmpty()) this.#tellDrained();
  }

  /** Resolves when everything has arrived or was dropped. */
  async drained(): Promise<void> {
    if (this.#sending === null && this.#isEmpty()) return;
    await new Promise<void>((resolve) => {
      this.#onDrained.push(resolve);
    });
  }

  #content(): Outgoing {
    return { batches: this.#batches, signals: this.#signals, wake: this.#wake };
  }

  #isEmpty(): boolean {
    return this.#batches.size === 0 && this.#signals.size === 0 && !this.#wake;
  }

  #clear(): void {
    this.#batches = new Map();
    this.#signals = new Set();
    this.#wake = false;
    this.#size = 0;
  }

  #tellDrained(): void {
    for (const tell of this.#onDrained.splice(0)) tell();
  }
}

function count({ batches, signals }: Outgoing): number {
  let number = signals.size;
  for (const list of batches.values()) number += list.length;
  return number;
}
