import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costUsd, exact } from '../../../src/model/cost.js';
import type { TokenUsage } from '../../../src/model/port.js';

const usage = (inputTokens: number, cachedInputTokens: number, outputTokens: number): TokenUsage => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
  reasoningTokens: 0,
});
const prices = (input: string, cachedInput: string, output: string) => ({
  input: exact(input),
  cachedInput: exact(cachedInput),
  output: exact(output),
});

/** Prices with up to eight decimals, as the ledger keeps them. */
const price = fc
  .bigInt({ min: 0n, max: 10n ** 14n })
  .map((units) => ({ units, text: new Decimal(`${units}e-8`).toFixed() }));
const count = fc.bigInt({ min: 0n, max: 2n ** 52n });

describe('the cost of a call', () => {
  test('charges cached input at its own price, once', () => {
    expect(costUsd(usage(2006, 1920, 300), prices('2.5', '1.25', '10')).toFixed()).toBe('0.005615');
  });

  test('counts reasoning as the part of the output that it is', () => {
    const call = { ...usage(100, 0, 266), reasoningTokens: 261 };
    expect(costUsd(call, prices('0', '0', '10')).toFixed()).toBe('0.00266');
  });

  test('a thousand small costs add up without drift', () => {
    const one = costUsd(usage(137, 0, 0), prices('0.1', '0.1', '0'));
    expect(one.toFixed()).toBe('0.0000137');
    let sum = new Decimal(0);
    for (let call = 0; call < 1_000; call += 1) sum = sum.plus(one);
    expect(sum.toFixed()).toBe('0.0137');
  });

  test('is exact to the last digit for any figures', () => {
    fc.assert(
      fc.property(count, count, count, price, price, price, (fresh, cached, output, input, cachedInput, out) => {
        fc.pre(fresh + cached <= BigInt(Number.MAX_SAFE_INTEGER));
        const cost = costUsd(
          usage(Number(fresh + cached), Number(cached), Number(output)),
          prices(input.text, cachedInput.text, out.text),
        );
        const units = fresh * input.units + cached * cachedInput.units + output * out.units;
        expect(cost.times('1e14').toFixed()).toBe(units.toString());
      }),
    );
  });

  test('is never negative, and never falls when there is more of anything', () => {
    const small = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(small, small, small, small, price, price, (fresh, cached, output, more, high, low) => {
        const table = prices(high.text, low.text, high.text);
        const cost = costUsd(usage(fresh + cached, cached, output), table);
        expect(cost.isNegative()).toBe(false);
        expect(costUsd(usage(fresh + cached + more, cached, output), table).gte(cost)).toBe(true);
        expect(costUsd(usage(fresh + cached, cached, output + more), table).gte(cost)).toBe(true);
      }),
    );
  });
});
