import type { Logger } from 'pino';

/** How long everything has to work before it is told that it does: what comes and goes is told as away. */
const steadyMs = 1_000;

/** What can fail on its own. `room`: more is published than Redis takes. */
type Part = 'reading' | 'writing' | 'room';

/** A word for the log that names the fault without any text that might quote the URL. */
function reasonOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  // Redis starts an error with its code: WRONGPASS, NOAUTH, OOM, READONLY.
  return code ?? /^[A-Z]{2,}(?=\s)/.exec(error.message)?.[0] ?? error.constructor.name;
}

/** Tells the log once when Redis goes away, and once when it is back. */
export class FeedHealth {
  readonly #log: Logger;
  readonly #down = new Set<Part>(['reading', 'writing']);
  #state: 'opening' | 'working' | 'away' = 'opening';
  #steady: NodeJS.Timeout | null = null;
  #dropped = 0;
  #closed = false;

  /** @param host for the log: host and port, without user and password */
  constructor(log: Logger, host: string) {
    this.#log = log.child({ redis: host });
  }

  /** Counts batches and signals that were not sent. */
  drop(number: number): void {
    this.#dropped += number;
  }

  /** @param error an error, or the reason in a word or two */
  fail(part: Part, error: unknown): void {
    if (this.#closed) return;
    this.#down.add(part);
    this.#cancel();
    if (this.#state === 'away') return;
    this.#state = 'away';
    this.#log.warn(
      { part, reason: reasonOf(error) },
      'Redis is away: turns go on, and other processes follow them through Postgres until it is back',
    );
  }

  work(part: Part): void {
    this.#down.delete(part);
    if (this.#down.size > 0 || this.#state === 'working' || this.#steady || this.#closed) return;
    if (this.#state === 'opening') {
      this.#state = 'working';
      this.#dropped = 0;
      this.#log.info('Redis carries events between processes');
      return;
    }
    this.#steady = setTimeout(() => {
      this.#cancel();
      this.#state = 'working';
      this.#log.info({ dropped: this.#dropped }, 'Redis carries events between processes again');
      this.#dropped = 0;
    }, steadyMs);
  }

  /** Says nothing any more. */
  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #cancel(): void {
    if (this.#steady) clearTimeout(this.#steady);
    this.#steady = null;
  }
}
