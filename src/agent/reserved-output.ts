import { extendHold } from '../db/queries/extend-hold.js';
import type { TightestLimit } from '../db/queries/tightest-limit.js';
import type { TurnFacts } from '../db/queries/turn-facts.js';
import type { AgentDependencies } from './dependencies.js';
import { OutputMeter } from './output-meter.js';
import { patiently } from './patience.js';

/** Fewest tokens that are reserved at a time beyond the first ones. */
const leastExtension = 1_024;

interface Reservation {
  /** Of the ledger row. */
  readonly id: string;
  /** What is reserved for the prompt, and for the output. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /**
   * Whether more is reserved when that is not enough, as long as the budgets have more. Not for a call whose provider was
   * told the limit; but models write more than they are listed with, where nobody tells them not to.
   */
  readonly mayGrow: boolean;
}

/** What a call may write. */
export class ReservedOutput {
  readonly #meter: OutputMeter;
  #tokens: number;
  #mayGrow: boolean;
  #stoppedBy: TightestLimit | null = null;

  constructor(
    private readonly deps: Pick<AgentDependencies, 'db' | 'log' | 'patienceMs'>,
    private readonly turn: Pick<TurnFacts, 'turnId' | 'epoch'>,
    private readonly reservation: Reservation,
  ) {
    this.#tokens = reservation.outputTokens;
    this.#mayGrow = reservation.mayGrow;
    this.#meter = new OutputMeter(this.#tokens);
  }

  /** The limit that had no more to give, if one has stopped it. */
  get stoppedBy(): TightestLimit | null {
    return this.#stoppedBy;
  }

  /** All that is reserved by now. */
  get tokens(): number {
    return this.#tokens;
  }

  /**
   * As much of the next piece as may be used: all of it, or its beginning, and then nothing may follow. At once, unless
   * more has to be reserved.
   *
   * @param before all output before it
   */
  take(piece: string, before: () => string): string | Promise<string> {
    const text = this.#meter.take(piece, before);
    return text === piece || !this.#mayGrow ? text : this.#grow(piece, before);
  }

  async #grow(piece: string, before: () => string): Promise<string> {
    const { turnId, epoch } = this.turn;
    const { id, inputTokens } = this.reservation;
    for (;;) {
      const wanted = Math.max(leastExtension, this.#tokens);
      const more = await patiently(this.deps, turnId, 'no more output could be reserved yet', () =>
        extendHold(this.deps.db, { id, epoch, heldTokens: inputTokens + this.#tokens }, wanted),
      );
      // The next time would find no more: what was given is less than was wanted.
      this.#mayGrow = more?.outputTokens === wanted;
      if (!this.#mayGrow) this.#stoppedBy = more?.tightest ?? null;
      this.#tokens += more?.outputTokens ?? 0;
      this.#meter.allow(this.#tokens, before);
      const text = this.#meter.take(piece, before);
      if (text === piece || !this.#mayGrow) return text;
    }
  }
}
