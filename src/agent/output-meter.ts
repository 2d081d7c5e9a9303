import { countTokens } from '../model/tokens.js';
import { beginning } from './context/texts.js';

/** A token of a byte-level encoding is at least one byte, and a UTF-16 unit takes at most three in UTF-8. */
const mostTokensPerUnit = 3;
/** Texts are counted in pieces, which comes to a little more than the provider counts. */
const tolerance = 1.02;

/**
 * Whether what a provider sends stays within what it may. Some ignore the limit that they are told. Text is counted only
 * where its length alone does not show that it fits, and kept nowhere.
 */
export class OutputMeter {
  #most: number;
  #left: number;
  /** Units at the end of the text that the count of what is left does not cover. */
  #uncounted = 0;

  constructor(mostTokens: number) {
    this.#most = Math.ceil(mostTokens * tolerance);
    this.#left = this.#most;
  }

  /** Lets so many tokens through in all, from before a piece that did not fit. */
  allow(mostTokens: number, before: () => string): void {
    this.#most = Math.ceil(mostTokens * tolerance);
    this.#left = this.#most - countTokens(before());
    this.#uncounted = 0;
  }

  /**
   * As much of the next piece as fits: all of it, or its beginning, and then nothing may follow.
   *
   * @param before all output before it
   */
  take(piece: string, before: () => string): string {
    this.#uncounted += piece.length;
    if (this.#uncounted * mostTokensPerUnit <= this.#left) return piece;
    const earlier = before();
    const text = earlier + piece;
    this.#left -= countTokens(text.slice(text.length - this.#uncounted));
    // Many small pieces count for more than their sum does: only the whole text says how much it is.
    if (this.#left < 0) this.#left = this.#most - countTokens(text);
    this.#uncounted = 0;
    return this.#left >= 0 ? piece : beginning(piece, this.#fittingLength(piece, this.#most - countTokens(earlier)));
  }

  /** How much of a text comes to no more than so many tokens. */
  #fittingLength(text: string, tokens: number): number {
    let [fits, tooMuch] = [0, text.length];
    while (tooMuch - fits > 1) {
      const middle = (fits + tooMuch) >> 1;
      if (countTokens(text.slice(0, middle)) <= tokens) fits = middle;
      else tooMuch = middle;
    }
    return fits;
  }
}
