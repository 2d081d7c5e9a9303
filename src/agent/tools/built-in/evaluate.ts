import { Decimal } from 'decimal.js';
import { ExpressionError, type Token, tokenise } from './tokens.js';

const deepest = 50;
const largestExponent = 1_000;
/** Each takes some milliseconds, which nothing else can use. */
const mostRoots = 10;
const shownDigits = 50;

// Twice the digits that are shown, so that (1 / 3) * 3 is 1. Beyond maxE a number counts as too large.
const Exact = Decimal.clone({
  precision: 2 * shownDigits,
  maxE: 5_000,
  minE: -5_000,
  rounding: Decimal.ROUND_HALF_EVEN,
  toExpNeg: -shownDigits,
  toExpPos: shownDigits,
});

function power(base: Decimal, exponent: Decimal): Decimal {
  if (exponent.abs().gt(largestExponent)) {
    throw new ExpressionError(`an exponent is beyond ${largestExponent}`);
  }
  return base.pow(exponent);
}

function divided(name: '/' | '%', a: Decimal, b: Decimal): Decimal {
  if (b.isZero()) throw new ExpressionError('it divides by zero');
  return name === '/' ? a.div(b) : a.mod(b);
}

function rounded(value: Decimal, digits: Decimal = new Exact(0)): Decimal {
  if (!digits.isInteger() || digits.lt(0) || digits.gt(shownDigits)) {
    throw new ExpressionError(`round takes 0 to ${shownDigits} digits`);
  }
  return value.toDecimalPlaces(digits.toNumber(), Decimal.ROUND_HALF_UP);
}

interface NamedFunction {
  readonly fewest: number;
  readonly most: number;
  apply(first: Decimal, ...rest: Decimal[]): Decimal;
}

const functions = new Map<string, NamedFunction>([
  ['sqrt', { fewest: 1, most: 1, apply: (value) => value.sqrt() }],
  ['abs', { fewest: 1, most: 1, apply: (value) => value.abs() }],
  ['floor', { fewest: 1, most: 1, apply: (value) => value.floor() }],
  ['ceil', { fewest: 1, most: 1, apply: (value) => value.ceil() }],
  ['round', { fewest: 1, most: 2, apply: (value, digits) => rounded(value, digits) }],
  ['min', { fewest: 1, most: 100, apply: (...values) => Exact.min(...values) }],
  ['max', { fewest: 1, most: 100, apply: (...values) => Exact.max(...values) }],
]);

/** Reads tokens from the left, computing as it goes. */
class Reader {
  #next = 0;
  #depth = 0;
  #roots = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  /** The value of all of it. */
  whole(): Decimal {
    const value = this.#sum();
    const rest = this.tokens[this.#next];
    if (rest) throw this.#unexpected(rest);
    return value;
  }

  #unexpected(token: Token | undefined): ExpressionError {
    return new ExpressionError(
      token ? `${token.text} at character ${token.at + 1} is not expected there` : 'the expression ends too early',
    );
  }

  #takes(...symbols: string[]): string | null {
    const token = this.tokens[this.#next];
    if (token?.kind !== 'symbol' || !symbols.includes(token.text)) return null;
    this.#next += 1;
    return token.text;
  }

  #needs(symbol: string): void {
    if (this.#takes(symbol) === null) throw this.#unexpected(this.tokens[this.#next]);
  }

  #sum(): Decimal {
    this.#depth += 1;
    if (this.#depth > deepest) throw new ExpressionError(`it is nested deeper than ${deepest} levels`);
    let value = this.#product();
    for (let sign = this.#takes('+', '-'); sign !== null; sign = this.#takes('+', '-')) {
      const other = this.#product();
      value = this.#finite(sign === '+' ? value.add(other) : value.sub(other));
    }
    this.#depth -= 1;
    return value;
  }

  #product(): Decimal {
    let value = this.#signed();
    for (let sign = this.#takes('*', '/', '%'); sign !== null; sign = this.#takes('*', '/', '%')) {
      const other = this.#signed();
      value = this.#finite(sign === '*' ? value.mul(other) : divided(sign as '/' | '%', value, other));
    }
    return value;
  }

  /** A sign binds weaker than a power: -2 ^ 2 is -4. */
  #signed(): Decimal {
    let isNegative = false;
    for (let sign = this.#takes('+', '-'); sign !== null; sign = this.#takes('+', '-')) {
      if (sign === '-') isNegative = !isNegative;
    }
    const value = this.#power();
    return isNegative ? value.neg() : value;
  }

  /** From the right: 2 ^ 3 ^ 2 is 2 ^ 9. */
  #power(): Decimal {
    const base = this.#operand();
    if (this.#takes('^') === null) return base;
    this.#depth += 1;
    if (this.#depth > deepest) throw new ExpressionError(`it is nested deeper than ${deepest} levels`);
    const exponent = this.#signed();
    if (!exponent.isInteger()) this.#roots += 1;
    if (this.#roots > mostRoots) throw new ExpressionError(`it has more than ${mostRoots} powers that are not whole`);
    const value = this.#finite(power(base, exponent));
    this.#depth -= 1;
    return value;
  }

  #operand(): Decimal {
    const token = this.tokens[this.#next];
    if (token?.kind === 'number') {
      this.#next += 1;
      return this.#finite(new Exact(token.text));
    }
    if (token?.kind === 'name') {
      this.#next += 1;
      return this.#call(token);
    }
    if (this.#takes('(') === null) throw this.#unexpected(token);
    const value = this.#sum();
    this.#needs(')');
    return value;
  }

  #call({ text, at }: Token): Decimal {
    const named = functions.get(text.toLowerCase());
    if (!named) {
      const known = [...functions.keys()].join(', ');
      throw new ExpressionError(`${text} at character ${at + 1} is not known, the functions are ${known}`);
    }
    this.#needs('(');
    const first = this.#sum();
    const rest: Decimal[] = [];
    while (this.#takes(',') !== null) rest.push(this.#sum());
    this.#needs(')');
    const count = 1 + rest.length;
    if (count < named.fewest || count > named.most) throw new ExpressionError(`${text} does not take ${count} values`);
    return this.#finite(named.apply(first, ...rest));
  }

  #finite(value: Decimal): Decimal {
    if (value.isNaN()) throw new ExpressionError('it has no real value');
    if (!value.isFinite()) throw new ExpressionError('a number in it is too large');
    return value;
  }
}

/**
 * The value of an arithmetic expression, as decimal text.
 *
 * @throws ExpressionError for what is none, has no real value or is too large.
 */
export function evaluate(expression: string): string {
  const value = new Reader(tokenise(expression)).whole();
  return value.toSignificantDigits(shownDigits).toString();
}
