import type { TokenUsage } from './port.js';

/**
 * Far beyond what any model reads or writes in one call. Sums of calls stay below 2^53 and costs inside their columns;
 * one figure that is a provider's slip would otherwise spoil the totals for good.
 */
const mostTokens = 1_000_000_000;

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens;

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/**
 * Reads the usage object of a chunk. Null for what cannot be booked: absent, negative, broken and impossible figures
 * (above 1,000,000,000), and a report of nothing at all, which some servers send in place of none.
 *
 * A broken part (cached, reasoning) counts as zero, so that the whole is charged at the full price.
 */
export function readUsage(usage: unknown): TokenUsage | null {
  const inputTokens = field(usage, 'prompt_tokens');
  const completionTokens = field(usage, 'completion_tokens');
  if (!isCount(inputTokens) || !isCount(completionTokens) || inputTokens + completionTokens === 0) return null;
  const cached = field(field(usage, 'prompt_tokens_details'), 'cached_tokens');
  const reasoning = field(field(usage, 'completion_tokens_details'), 'reasoning_tokens');
  const reasoningTokens = isCount(reasoning) ? reasoning : 0;
  // OpenAI counts reasoning inside of the completion. Some gateways (xAI, Gemini) count it beside, which their total
  // gives away; it is billed as output all the same.
  const isBeside =
    reasoningTokens > 0 && field(usage, 'total_tokens') === inputTokens + completionTokens + reasoningTokens;
  const outputTokens = isBeside ? completionTokens + reasoningTokens : completionTokens;
  if (!isCount(outputTokens)) return null;
  return {
    inputTokens,
    cachedInputTokens: isCount(cached) && cached <= inputTokens ? cached : 0,
    outputTokens,
    reasoningTokens: reasoningTokens <= outputTokens ? reasoningTokens : 0,
  };
}
