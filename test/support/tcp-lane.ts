import type { Socket } from 'node:net';

/** How much a slow lane holds before its sender is made to wait. */
const mostWaiting = 1_048_576;

interface Waiting {
  readonly due: number;
  /** Null is the sender's FIN. */
  readonly bytes: Buffer | null;
}

/** Looks at bytes before they are passed on; gives how many of them are the last to pass, or null for all and more. */
export type Limit = (bytes: Buffer) => number | null;

/**
 * One direction of a proxied connection. Bytes keep their order, a full receiver makes the sender wait, and FIN is
 * passed on as FIN.
 */
export class TcpLane {
  /** Bytes passed on so far. */
  passed = 0;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #stalled = false;
  #blocked = false;
  #over = false;
  #limit: Limit | null = null;
  #onLimit: () => void = () => {};
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly latencyMs: () => number,
  ) {
    from.on('data', (bytes) => this.#take(bytes));
    from.on('end', () => this.#take(null));
    to.on('drain', () => {
      this.#blocked = false;
      this.#pump();
    });
    from.once('close', () => this.#cancelTimer());
  }

  /** Passes nothing on and reads nothing, as a peer does that is still connected but does nothing. */
  stall(): void {
    this.#stalled = true;
    this.#cancelTimer();
    this.from.pause();
  }

  resume(): void {
    this.#stalled = false;
    this.#pump();
  }

  /** Calls `then` once the bytes up to the limit have been handed to the receiver's kernel; the rest is thrown away. */
  limit(limit: Limit, then: () => void): void {
    this.#limit = limit;
    this.#onLimit = then;
  }

  /** Sends FIN after what was passed on; what still comes is read and thrown away. */
  finish(): void {
    this.#over = true;
    this.#waiting = [];
    this.to.end();
    this.from.resume();
  }

  #take(bytes: Buffer | null): void {
    if (this.#over) return;
    const last = this.#waiting.at(-1)?.due ?? 0;
    this.#waiting.push({ due: Math.max(last, performance.now() + this.latencyMs()), bytes });
    this.#waitingBytes += bytes?.length ?? 0;
    this.#pump();
  }

  #pump(): void {
    this.#cancelTimer();
    while (!this.#over && !this.#stalled && !this.#blocked) {
      const next = this.#waiting[0];
      if (!next) break;
      const early = next.due - performance.now();
      if (early > 0.5) {
        this.#timer = setTimeout(() => this.#pump(), early);
        break;
      }
      this.#waiting.shift();
      this.#pass(next.bytes);
    }
    if (this.#over) return;
    if (this.#stalled || this.#blocked || this.#waitingBytes > mostWaiting) this.from.pause();
    else this.from.resume();
  }

  #pass(bytes: Buffer | null): void {
    if (bytes === null) {
      this.#over = true;
      this.to.end();
      return;
    }
    this.#waitingBytes -= bytes.length;
    const last = this.#limit?.(bytes) ?? null;
    if (last !== null) {
      this.#over = true;
      this.passed += last;
      this.to.write(bytes.subarray(0, last), () => this.#onLimit());
      return;
    }
    this.passed += bytes.length;
    this.#blocked = !this.to.write(bytes);
  }

  #cancelTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** Passes this many bytes, counted from now. */
export function byteLimit(count: number): Limit {
  let left = count;
  return (bytes) => {
    if (bytes.length >= left) return left;
    left -= bytes.length;
    return null;
  };
}

/** Passes everything up to and including the first occurrence of a text, also when it comes in pieces. */
export function textLimit(text: string): Limit {
  const sought = Buffer.from(text);
  let tail = Buffer.alloc(0);
  return (bytes) => {
    const seen = Buffer.concat([tail, bytes]);
    const at = seen.indexOf(sought);
    if (at >= 0) return at + sought.length - tail.length;
    tail = seen.subarray(Math.max(0, seen.length - sought.length + 1));
    return null;
  };
}
