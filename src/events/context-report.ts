/** How far a prompt had to be shortened: nothing; older messages; the oldest of them by a summary; to the bone. */
export type ContextStrategy = 'PASSTHROUGH' | 'FIDELITY' | 'SUMMARY' | 'AGGRESSIVE';

/** How the prompt of a model call was made up. Token figures are counted here, so they are estimates of the provider's. */
export interface ContextReport {
  readonly strategy: ContextStrategy;
  /** Of the model, for prompt and reply together. */
  readonly windowTokens: number;
  readonly systemTokens: number;
  readonly toolTokens: number;
  /** All messages but the system prompt, images included. */
  readonly historyTokens: number;
  /** Messages of the history; the next three add up to it. */
  readonly messagesTotal: number;
  /** As they were written. */
  readonly messagesKept: number;
  /** Shortened, or told by the summary. */
  readonly messagesCompressed: number;
  readonly messagesDropped: number;
  /** What the shortened messages would have taken besides, as far as they were looked at. */
  readonly tokensSaved: number;
  /** Messages in the prompt by level, from verbatim to a mere trace. */
  readonly fidelity: { readonly l0: number; readonly l1: number; readonly l2: number; readonly l3: number };
  readonly toolsLoaded: number;
  readonly toolsAvailable: number;
}

/** Tokens of the whole prompt. */
export const usedTokens = ({ systemTokens, toolTokens, historyTokens }: ContextReport): number =>
  systemTokens + toolTokens + historyTokens;
