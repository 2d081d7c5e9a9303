import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import type { ServerTool } from '../tool.js';
import { ToolFailure } from '../tool-failure.js';
import { evaluate } from './evaluate.js';
import { ExpressionError, longestExpression } from './tokens.js';

const parameters = z.object({
  expression: z.string().trim().min(1).max(longestExpression).describe('For example (1.1 + 2.2) * 3 ^ 2.'),
});

/** Computes an expression in decimals. */
export const calculator: ServerTool = defineTool({
  name: 'calculator',
  description:
    'Computes an arithmetic expression exactly, in decimals: + - * / % (remainder) ^ (power), parentheses, 1.5e3, and the functions sqrt, abs, round(x, digits), floor, ceil, min, max. Results that do not end are rounded to 50 digits.',
  parameters,
  origin: 'built_in',
  sideEffect: 'none',
  timeoutMs: 5_000,
  run({ expression }) {
    try {
      return evaluate(expression);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw new ToolFailure('INVALID_ARGUMENTS', 'validation', `Not computed: ${error.message}.`, { cause: error });
    }
  },
});
