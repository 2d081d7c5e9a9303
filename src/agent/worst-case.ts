import { Decimal } from 'decimal.js';
import type { ModelInfo } from '../model/catalog.js';
import { costUsd } from '../model/cost.js';
import type { ModelRequest } from '../model/port.js';

/**
 * Counts are estimates: providers charge for marks of their own, and other vendors' tokens are mostly within a tenth of
 * ours. What is reserved must not be less than what is billed.
 */
const margin = 1.25;

/** A reply of fewer tokens is of no use to anybody. */
const leastReply = 16;

/** What a call can come to at worst, and what it takes at least. */
export interface WorstCase {
  readonly inputTokens: number;
  readonly wantedOutput: number;
  readonly leastOutput: number;
}

/** @param promptTokens of the whole prompt, its tools included */
export function worstCase(
  model: ModelInfo,
  { maxOutputTokens }: Pick<ModelRequest, 'maxOutputTokens'>,
  promptTokens: number,
): WorstCase {
  const inputTokens = Math.ceil(promptTokens * margin);
  const longest = model.maxOutputTokens ?? Math.max(leastReply, model.contextWindow - inputTokens);
  const wantedOutput = maxOutputTokens ?? Math.min(longest, model.contextWindow);
  return { inputTokens, wantedOutput, leastOutput: Math.min(leastReply, wantedOutput) };
}

/** What a call takes at least, in USD; null when the price is unknown. */
export const leastCostUsd = ({ prices }: ModelInfo, { inputTokens, leastOutput }: WorstCase): number | null =>
  prices &&
  costUsd(
    { inputTokens, outputTokens: leastOutput, cachedInputTokens: 0, reasoningTokens: 0 },
    // All of the prompt may come from a cache that costs more than none.
    { ...prices, input: Decimal.max(prices.input, prices.cachedInput) },
  ).toNumber();
