import type { Database } from '../../db/database.js';
import { findMovedSessions } from '../../db/queries/session-turns.js';

/** Somebody who waits for the next turn of a session. */
interface Waiting {
  readonly sessionId: string;
  /** Number of the last turn it knows. */
  readonly number: number;
  wake(): void;
}

/** All who wait for the next turn of a session, so that one statement can ask for all of them. */
export class SessionWatch {
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(private readonly database: Pick<Database, 'pool'>) {}

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when a turn behind this number may have begun, or the session may be gone. `cancel` takes the wish back. */
  wait(sessionId: string, number: number): { readonly woken: Promise<void>; cancel(): void } {
    let wake = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const mine: Waiting = { sessionId, number, wake };
    const others = this.#waiting.get(sessionId);
    if (others) others.add(mine);
    else this.#waiting.set(sessionId, new Set([mine]));
    return { woken, cancel: () => this.#remove(mine) };
  }

  /** Something has happened in this session. */
  wake(sessionId: string): void {
    for (const waiting of this.#waiting.get(sessionId) ?? []) waiting.wake();
  }

  /** Asks the database about every session that is waited for. */
  async look(): Promise<void> {
    const sessions = [...this.#waiting].map(([sessionId, all]) => ({
      sessionId,
      number: Math.min(...[...all].map(({ number }) => number)),
    }));
    if (sessions.length === 0) return;
    for (const sessionId of await findMovedSessions(this.database.pool, sessions)) this.wake(sessionId);
  }

  #remove(waiting: Waiting): void {
    const all = this.#waiting.get(waiting.sessionId);
    all?.delete(waiting);
    if (all?.size === 0) this.#waiting.delete(waiting.sessionId);
  }
}
