import { Decimal } from 'decimal.js';
import { digitsForWords } from './number-words.js';

/** Enough for a pocket calculator, and small enough that no power can keep the process busy. */
const Pocket = Decimal.clone({ precision: 30, maxE: 10_000, minE: -10_000 });
const longestExpression = 200;
const largestExponent = 1_000;

/**
 * Operators in words, and how they are written: ⁒ stands for "% of" as long as the text is searched. The order matters:
 * longer phrases first.
 */
const wordings: readonly (readonly [RegExp, string])[] = [
  [/(\d)\s*(?:%|per ?cent)\s+of\s+(?:the )?/gi, '$1⁒'],
  [/\b(?:the )?square root of\s+|\bsqrt\s*(?:of\s+)?(?=[\d(])/gi, '√'],
  [/\bto the power of\b/gi, '^'],
  [/\bsquared\b/gi, '^2'],
  [/\bcubed\b/gi, '^3'],
  [/\b(?:multiplied by|times)\b/gi, '*'],
  [/\bdivided by\b/gi, '/'],
  [/\bplus\b/gi, '+'],
  [/\bminus\b/gi, '-'],
  [/\bmod(?:ulo)?\b/gi, '%'],
  [/[×·]|(?<=\d\s*)x(?=\s*\d)/g, '*'],
  [/[÷:](?=\s*[\d(])/g, '/'],
  [/\*\*/g, '^'],
  [/−/g, '-'],
  [/(?<=\d),(?=\d{3}\b)/g, ''],
];

const asksForSum = /\b(what(?:'s| is)|how much is|calculate|compute|work out|solve|evaluate|sum)\b|=\s*\??\s*$/i;

/**
 * The arithmetic expression that a message asks for, in plain symbols; null when it asks for none. Numbers in passing
 * (dates, versions, "24/7") are none, unless the message is nothing else.
 */
export function findExpression(message: string): string | null {
  const text = digitsForWords(message.slice(0, 1_000));
  const symbols = wordings.reduce((written, [pattern, symbol]) => written.replace(pattern, symbol), text);
  const candidates = symbols.match(/[-(\d.√][\d.+\-*/^%()⁒√\s]*[\d)]/g) ?? [];
  const found = candidates
    .map((candidate) => candidate.replace(/\s+/g, ' ').trim())
    .filter(
      (candidate) =>
        /\d\s*\)*\s*[-+*/^%⁒]\s*[-(\d.√]|√\s*[\d(]/.test(candidate) && candidate.length <= longestExpression,
    )
    .sort((a, b) => b.length - a.length)[0];
  if (found === undefined) return null;
  const isAlone =
    symbols
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/[?=.!\s]+$/, '') === found;
  return isAlone || asksForSum.test(message) ? found.replaceAll('⁒', '% of ').replaceAll('√(', 'sqrt(') : null;
}

/** The expression without "% of" and roots of numbers, which not every calculator knows. */
export function inPlainSymbols(expression: string): string {
  return expression
    .replace(/(\d[\d.]*)% of /g, '($1/100)*')
    .replace(/√\s*(\d[\d.]*)/g, '($1)^0.5')
    .replace(/sqrt(\([^()]*\))/g, '$1^0.5');
}

/** The value of an expression, or what is wrong with it as a sentence. */
export type Evaluation = { readonly value: string } | { readonly problem: string };

class ArithmeticError extends Error {}

/** Whole numbers to the last digit, as long as they are exact; others to fifteen. */
const written = (value: Decimal) =>
  value.isInteger() && value.precision(true) <= 30 ? value.toFixed() : value.toSignificantDigits(15).toString();

/** Evaluates + - * / % ^ and brackets, exactly where decimals can be exact. Never runs code. */
export function evaluate(expression: string): Evaluation {
  try {
    if (expression.length > longestExpression) throw new ArithmeticError('That is too long for me.');
    return { value: written(parse(expression)) };
  } catch (error) {
    if (error instanceof ArithmeticError) return { problem: error.message };
    return { problem: 'That is no sum that I can work out.' };
  }
}

/** Recursive descent: sum → product → share → power → atom. Its depth is bounded by the length of the expression. */
function parse(expression: string): Decimal {
  const tokens = expression.match(/\d+(?:\.\d+)?|\.\d+|% of|sqrt|[-+*/%^()]|\S/g) ?? [];
  let at = 0;

  function sum(): Decimal {
    let value = product();
    for (let operator = tokens[at]; operator === '+' || operator === '-'; operator = tokens[at]) {
      at += 1;
      value = operator === '+' ? value.plus(product()) : value.minus(product());
    }
    return value;
  }

  function product(): Decimal {
    let value = share();
    for (let operator = tokens[at]; operator === '*' || operator === '/' || operator === '%'; operator = tokens[at]) {
      at += 1;
      const right = share();
      if (operator === '*') {
        value = value.times(right);
      } else {
        if (right.isZero()) throw new ArithmeticError('Nothing can be divided by zero, not even by me.');
        value = operator === '/' ? value.dividedBy(right) : value.modulo(right);
      }
    }
    return value;
  }

  function share(): Decimal {
    const value = signed();
    if (tokens[at] !== '% of') return value;
    at += 1;
    return value.dividedBy(100).times(share());
  }

  function signed(): Decimal {
    if (tokens[at] !== '-') return power();
    at += 1;
    return signed().negated();
  }

  function power(): Decimal {
    const base = atom();
    if (tokens[at] !== '^') return base;
    at += 1;
    const exponent = signed();
    if (exponent.abs().gt(largestExponent)) throw new ArithmeticError('That power is too large for me.');
    return finite(base.pow(exponent));
  }

  function atom(): Decimal {
    const token = tokens[at];
    at += 1;
    if (token === '(') {
      const value = sum();
      if (tokens[at] !== ')') throw new ArithmeticError('A bracket is missing there.');
      at += 1;
      return value;
    }
    if (token === '√' || token === 'sqrt') return finite(atom().sqrt());
    if (token === undefined || !/^[\d.]/.test(token)) throw new ArithmeticError('That is no sum that I can work out.');
    return new Pocket(token);
  }

  const value = finite(sum());
  if (at < tokens.length) throw new ArithmeticError('That is no sum that I can work out.');
  return value;
}

function finite(value: Decimal): Decimal {
  if (!value.isFinite()) throw new ArithmeticError('That number is beyond me.');
  return value;
}
