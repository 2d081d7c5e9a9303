import type { ErrorCode } from '../../errors.js';
import type { TurnLog } from '../../events/turn-log.js';

/** How a turn ended, for those who wait for it in this process. */
export interface TurnOutcome {
  readonly turnId: string;
  /** Set when the turn FAILED. */
  readonly error: { readonly code: ErrorCode; readonly retryable: boolean } | null;
}

/** A turn that runs in this process. */
export interface LiveTurn {
  readonly sessionId: string;
  readonly turnId: string;
  /** Rises with every owner; 1 for a turn that was accepted here. */
  readonly epoch: number;
  readonly log: TurnLog;
  /** Ends the turn; its reason says why. */
  readonly abort: AbortController;
  /** Resolves once the turn's end is stored and told; never rejects. */
  readonly settled: Promise<TurnOutcome>;
  /** Stores what has been streamed so far. */
  flush(): Promise<void>;
}

/** The turns of this process, until their end is stored and told. */
export class LiveTurns {
  readonly #byId = new Map<string, LiveTurn>();
  readonly #bySession = new Map<string, Set<LiveTurn>>();
  /** Turns about to be accepted, each with the reason to end it at once, if there is one by now. */
  readonly #expected = new Map<string, Error | null>();

  /** Announces a turn that is about to be accepted, until it is added or `unexpect`ed. */
  expect(turnId: string): void {
    this.#expected.set(turnId, null);
  }

  unexpect(turnId: string): void {
    this.#expected.delete(turnId);
  }

  /** Ends a turn that runs here, or that is about to. */
  abort(turnId: string, reason: Error): void {
    this.#byId.get(turnId)?.abort.abort(reason);
    if (this.#expected.has(turnId)) this.#expected.set(turnId, reason);
  }

  /** Every turn that this process runs or may be about to run: none of them is abandoned, however late it is. */
  ids(): readonly string[] {
    return [...this.#byId.keys(), ...this.#expected.keys()];
  }

  get(turnId: string): LiveTurn | undefined {
    return this.#byId.get(turnId);
  }

  /** Usually one; a turn that is just ending and its successor may overlap. */
  inSession(sessionId: string): readonly LiveTurn[] {
    return [...(this.#bySession.get(sessionId) ?? [])];
  }

  all(): readonly LiveTurn[] {
    return [...this.#byId.values()];
  }

  add(turn: LiveTurn): void {
    this.#byId.set(turn.turnId, turn);
    const turns = this.#bySession.get(turn.sessionId);
    if (turns) turns.add(turn);
    else this.#bySession.set(turn.sessionId, new Set([turn]));
    const reason = this.#expected.get(turn.turnId);
    if (reason) turn.abort.abort(reason);
  }

  remove(turn: LiveTurn): void {
    this.#byId.delete(turn.turnId);
    const turns = this.#bySession.get(turn.sessionId);
    turns?.delete(turn);
    if (turns?.size === 0) this.#bySession.delete(turn.sessionId);
  }
}
