import type { HistoryMessage } from '../../db/queries/load-history.js';
import { type CurrentForm, onlyLast, tellCurrent } from './current-round.js';
import { type Piece, tellFirst, tellGroup, tellResult, tellRound, tellUser, traceLine } from './forms.js';
import type { Plan, PlannedRound } from './planned.js';
import type { TokenCounts } from './token-counts.js';

/** Tokens of messages of a prompt. */
export const piecesTokens = (counts: TokenCounts, pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { message, key }) => sum + counts.message(message, key), 0);

/** Tokens of a message as it was written. */
export const verbatimTokens = (counts: TokenCounts, message: HistoryMessage): number =>
  counts.stored(message, () => countVerbatim(counts, message));

function countVerbatim(counts: TokenCounts, message: HistoryMessage): number {
  if (message.role === 'USER') return piecesTokens(counts, [tellUser(message, 'verbatim', true)]);
  if (message.role === 'TOOL') return piecesTokens(counts, [tellResult(message, 'verbatim')]);
  return piecesTokens(counts, tellGroup({ message, results: [] }, 'verbatim'));
}

/** Tokens for the notes that tell what is left out. */
const notesReserve = 40;

export type RoundForm = Pick<PlannedRound, 'form' | 'isShown'>;

/** Tokens of a round in a form. */
export function roundTokens(
  counts: TokenCounts,
  { round }: Pick<PlannedRound, 'round'>,
  { form, isShown }: RoundForm,
): number {
  if (form === 'dropped') return 0;
  if (form === 'trace') return counts.text(traceLine(round)) + 1;
  return piecesTokens(counts, tellRound(round, form, isShown));
}

/**
 * Tokens of the rounds of a plan, kept up to date with its changes: of a long history it would take too long to add them
 * up after each.
 */
export class Estimate {
  readonly #tokens = new Map<PlannedRound, number>();
  #current: number;
  #total = 0;

  constructor(
    private readonly counts: TokenCounts,
    private readonly plan: Plan,
  ) {
    for (const planned of plan.past) {
      const tokens = roundTokens(counts, planned, planned);
      this.#tokens.set(planned, tokens);
      this.#total += tokens;
    }
    this.#current = this.#tokensOf(plan.currentForm);
  }

  /** Of everything, with some room for notes about what is left out. */
  get total(): number {
    const { first, firstLength, summary } = this.plan;
    const request = first ? piecesTokens(this.counts, [tellFirst(first, firstLength)]) : 0;
    return request + (summary ? this.counts.text(summary.content) : 0) + notesReserve + this.#total + this.#current;
  }

  /** Of the last step of the current round alone, with the user's message. */
  last(form: CurrentForm): number {
    return this.#tokensOf(onlyLast(this.plan.current, form));
  }

  /** Tells a round in another form, if that is shorter. */
  shorten(planned: PlannedRound, next: RoundForm): boolean {
    const before = this.#tokens.get(planned) ?? 0;
    const after = roundTokens(this.counts, planned, next);
    if (after >= before) return false;
    Object.assign(planned, next);
    this.#tokens.set(planned, after);
    this.#total += after - before;
    return true;
  }

  setCurrent(form: CurrentForm): void {
    this.plan.currentForm = form;
    this.#current = this.#tokensOf(form);
  }

  #tokensOf(form: CurrentForm): number {
    return piecesTokens(this.counts, tellCurrent(this.plan.current, form, this.plan.isCurrentShown));
  }
}
