import { Decimal } from 'decimal.js';
import type { TokenUsage } from './port.js';

/** Enough digits for the largest token count at the finest price: sums of products never round. */
const Exact = Decimal.clone({ precision: 80 });

/** USD per million tokens. */
export interface ModelPrices {
  readonly input: Decimal;
  readonly cachedInput: Decimal;
  readonly output: Decimal;
}

/** An exact amount from its decimal notation. */
export const exact = (amount: string | number): Decimal => new Exact(amount);

/** The exact cost of a call in USD: cached input at its own price, reasoning as a part of the output. */
export function costUsd(usage: TokenUsage, prices: ModelPrices): Decimal {
  const fresh = exact(usage.inputTokens - usage.cachedInputTokens).times(prices.input);
  const cached = exact(usage.cachedInputTokens).times(prices.cachedInput);
  const output = exact(usage.outputTokens).times(prices.output);
  return fresh.plus(cached).plus(output).dividedBy(1_000_000);
}
