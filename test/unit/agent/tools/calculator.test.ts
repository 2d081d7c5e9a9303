import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculator } from '../../../../src/agent/tools/built-in/calculator.js';
import { evaluate } from '../../../../src/agent/tools/built-in/evaluate.js';
import { ExpressionError } from '../../../../src/agent/tools/built-in/tokens.js';
import { ToolFailure } from '../../../../src/agent/tools/tool-failure.js';

describe('the calculator', () => {
  it.each([
    ['0.1 + 0.2', '0.3'],
    ['1 / 3 * 3', '1'],
    ['2 / 3', '0.66666666666666666666666666666666666666666666666667'],
    ['-2 ^ 2', '-4'],
    ['2 ^ 3 ^ 2', '512'],
    ['2 ** 10', '1024'],
    ['10 - 4 - 3', '3'],
    ['2 + 3 * 4', '14'],
    ['(2 + 3) * 4', '20'],
    ['17 % 5', '2'],
    ['3 × 4 ÷ 2 − 1', '5'],
    ['1.5e3 + .5', '1500.5'],
    ['12345678901234567890 * 9876543210', '121932631124828532111263526900'],
    ['sqrt(16) + abs(-3)', '7'],
    ['round(2.345, 2)', '2.35'],
    ['Max(1, 7, 3) - min(4, 2)', '5'],
    ['floor(-1.5) + ceil(1.2)', '0'],
    ['- - 1', '1'],
  ])('computes %s', (expression, value) => {
    expect(evaluate(expression)).toBe(value);
  });

  it.each([
    ['1 / 0', 'divides by zero'],
    ['1 % 0', 'divides by zero'],
    ['sqrt(-1)', 'no real value'],
    ['(1', 'ends too early'],
    ['1 +', 'ends too early'],
    ['1 2', '2 at character 3 is not expected'],
    ['alert(1)', 'the functions are sqrt'],
    ['round(1, 2, 3)', 'does not take 3 values'],
    ['round(1, 99)', 'round takes'],
    ['process.exit()', 'no use for "."'],
    ['2 ^ 1001', 'exponent is beyond 1000'],
    ['9 ^ 9 ^ 9', 'exponent is beyond 1000'],
    ['1e6000', 'too large'],
    ['(9^999)^9', 'too large'],
    ['('.repeat(60), 'nested deeper'],
    ['2^1'.repeat(60).replaceAll('12', '1^2'), 'nested deeper'],
    [Array(11).fill('2 ^ .5').join('+'), 'powers that are not whole'],
    ['1'.repeat(1_001), 'longer than 1000'],
  ])('says why %s has no value', (expression, problem) => {
    expect(() => evaluate(expression)).toThrow(ExpressionError);
    expect(() => evaluate(expression)).toThrow(problem);
  });

  it('tells the model what was wrong, as something it can mend', () => {
    const compute = () => calculator.run({ expression: '1 /' }, {} as never);
    expect(compute).toThrow(ToolFailure);
    expect(compute).toThrow('Not computed: the expression ends too early.');
  });

  it('either computes or says why not, in no time, whatever it is given', () => {
    const piece = fc.constantFrom(
      '1',
      '9.5',
      '7e99',
      '.3',
      '+',
      '-',
      '*',
      '/',
      '%',
      '^',
      '(',
      ')',
      ',',
      'sqrt(',
      'round(',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const startedAt = performance.now();
        try {
          expect(evaluate(pieces.join(' '))).toMatch(/^-?\d+(\.\d+)?(e[+-]\d+)?$/);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionError);
        }
        expect(performance.now() - startedAt).toBeLessThan(1_000);
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with whole numbers', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.maxSafeInteger(), fc.integer(), (a, b, c) => {
        expect(evaluate(`${a} + ${b} * (${c})`)).toBe(String(BigInt(a) + BigInt(b) * BigInt(c)));
      }),
    );
  });
});
