import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluate, findExpression, inPlainSymbols } from '../../../../src/model/demo/arithmetic.js';
import { cpuMilliseconds } from '../../../support/cpu.js';

const solve = (message: string) => {
  const expression = findExpression(message);
  if (expression === null) return null;
  const result = evaluate(expression);
  return 'value' in result ? result.value : result.problem;
};

describe('sums in a message', () => {
  test.each([
    ['What is 17 * 23?', '391'],
    ['17*23=', '391'],
    ['what is 7 x 8', '56'],
    ['How much is 12 divided by 5?', '2.4'],
    ['calculate 2 + 3 * 4', '14'],
    ['(2 + 3) ^ 4', '625'],
    ['What is 2 to the power of 10?', '1024'],
    ['2 ^ 3 ^ 2', '512'],
    ['-2 ^ 2', '-4'],
    ['what is 5 - -3', '8'],
    ['0.1 + 0.2', '0.3'],
    ['15% of 80', '12'],
    ['what is 17 % 5', '2'],
    ['1,234,567 + 1', '1234568'],
    ['square root of 16', '4'],
    ['sqrt(16)', '4'],
    ['What is sqrt(9 + 16) * 2?', '10'],
    ['15% of 80 + 5', '17'],
    ['100 / 50% of 4', '50'],
    ['two plus two', '4'],
    ['What is twenty-one times three hundred and five?', '6405'],
    ['two thousand minus one', '1999'],
    ['what is fifteen percent of eighty', '12'],
    ['9007199254740993 + 1', '9007199254740994'],
  ])('%s', (message, result) => {
    expect(solve(message)).toBe(result);
  });

  test.each([
    'hello',
    'It was released on 2026-11-30.',
    'I am here 24/7, call 555-1234.',
    'Version 1.2.3 is out',
    'I have 3 - maybe 4 - questions',
    'What is new in 2026?',
    'What is one of two things?',
    'What is a one-to-one talk, and why?',
    '',
  ])('%j is none', (message) => {
    expect(findExpression(message)).toBeNull();
  });

  test('is shown as it was written, and is in plain symbols for a calculator', () => {
    const written = ['15% of 80', 'sqrt(16)', 'the square root of 16'].map((message) => findExpression(message) ?? '');
    expect(written).toEqual(['15% of 80', 'sqrt(16)', '√16']);
    expect(written.map(inPlainSymbols)).toEqual(['(15/100)*80', '(16)^0.5', '(16)^0.5']);
    expect(solve('sqrt(0 - 4)')).not.toContain('NaN');
  });

  test('what cannot be worked out is said, not thrown', () => {
    expect(solve('10 / 0')).toContain('divided by zero');
    expect(solve('2 ^ 5000')).toContain('too large');
    expect(solve('10 ^ 999 * 10 ^ 999 * 10 ^ 999')).toMatch(/^1e\+2997$/);
    expect(evaluate('(-1) ^ 0.5')).toHaveProperty('problem');
    expect(evaluate('(2 + 3')).toHaveProperty('problem');
    expect(evaluate('2 +')).toHaveProperty('problem');
    expect(evaluate('process.exit()')).toHaveProperty('problem');
  });

  test('any text is answered in no time', () => {
    const text = fc.string({
      unit: fc.constantFrom('1', '2', '.', '(', ')', '^', '*', '-', '/', '%', ' ', '√', '% of '),
      maxLength: 300,
    });
    fc.assert(
      fc.property(text, (expression) => {
        const took = cpuMilliseconds(() => {
          findExpression(`what is ${expression}?`);
          const result = evaluate(expression);
          expect('value' in result || 'problem' in result).toBe(true);
        });
        expect(took).toBeLessThan(500);
      }),
    );
  });
});
