import type { TurnEventBody } from '../../events/event.js';
import type { StoredEnd } from '../../events/stored-end.js';
import type { TurnLog } from '../../events/turn-log.js';

/** How a turn left this process. */
export type TurnOutcome =
  /** `error` is set when it FAILED; `stored` is null when another process has stored its end. */
  | {
      readonly kind: 'ended';
      readonly error: Pick<Extract<TurnEventBody, { type: 'TurnFailed' }>, 'code' | 'retryable' | 'reached'> | null;
      readonly stored: StoredEnd | null;
    }
  /** It waits for its user. */
  | { readonly kind: 'parked' }
  /** Another process runs it on, or will. */
  | { readonly kind: 'moved' };

/** A turn that runs in this process. */
export interface LiveTurn {
  readonly sessionId: string;
  readonly turnId: string;
  /** Rises with every owner; 1 for a turn that was accepted here. */
  readonly epoch: number;
  readonly log: TurnLog;
  /** Ends the turn; its reason says why. */
  readonly abort: AbortController;
  /** Resolves once what this process has to do for the turn is stored and told; never rejects. */
  readonly settled: Promise<TurnOutcome>;
  /** Stores what has been streamed so far. */
  flush(): Promise<void>;
}

/** The turns of this process, until their end is stored and told. */
export class LiveTurns {
  readonly #byId = new Map<string, LiveTurn>();
  readonly #bySession = new Map<string, Set<LiveTurn>>();
  /** Turns about to be owned, each with the reason to end it at once, if there is one by now. */
  readonly #expected = new Map<string, Error | null>();
  readonly #listeners = new Set<(turn: LiveTurn) => void>();

  /** Announces a turn that is about to be owned, until it is added or `unexpect`ed. */
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

  /** A turn whose log here still goes on; not one whose end is told, or that has just been handed over. */
  open(turnId: string): LiveTurn | undefined {
    const turn = this.#byId.get(turnId);
    return turn?.log.events.isOver ? undefined : turn;
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
    for (const listen of this.#listeners) listen(turn);
  }

  remove(turn: LiveTurn): void {
    // A turn that came back to this process under a new epoch has taken the place of the old one.
    if (this.#byId.get(turn.turnId) === turn) this.#byId.delete(turn.turnId);
    const turns = this.#bySession.get(turn.sessionId);
    turns?.delete(turn);
    if (turns?.size === 0) this.#bySession.delete(turn.sessionId);
  }

  /** Calls back for every turn that begins to run here. */
  onAdd(listen: (turn: LiveTurn) => void): () => void {
    this.#listeners.add(listen);
    return () => this.#listeners.delete(listen);
  }
}
