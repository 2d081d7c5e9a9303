/** Longest expression in UTF-16 units. */
export const longestExpression = 1_000;

/** An expression that has no value; the message says why, in words for the model. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

export type Token =
  | { readonly kind: 'number' | 'name'; readonly text: string; readonly at: number }
  | { readonly kind: 'symbol'; readonly text: string; readonly at: number };

const pattern = /\s+|(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z][A-Za-z0-9]*)|(\*\*|[-+*/%^(),])/y;

/** Signs that people write for the plain ones. */
const plain: Readonly<Record<string, string>> = { '×': '*', '·': '*', '÷': '/', '−': '-' };

/** Cuts an expression into numbers, names and symbols. @throws ExpressionError */
export function tokenise(expression: string): Token[] {
  if (expression.length > longestExpression) {
    throw new ExpressionError(`the expression is longer than ${longestExpression} characters`);
  }
  const source = expression.replace(/[×·÷−]/g, (sign) => plain[sign] ?? sign);
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  while (pattern.lastIndex < source.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(source);
    if (!match) {
      throw new ExpressionError(`there is no use for ${JSON.stringify(source.charAt(at))} at character ${at + 1}`);
    }
    const [, number, name, symbol] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number, at });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name, at });
    else if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol === '**' ? '^' : symbol, at });
  }
  return tokens;
}
