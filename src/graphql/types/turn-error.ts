import { type ErrorCode, errorTable } from '../../errors.js';
import { builder } from '../builder.js';
import { ErrorCodeEnum } from './error-code.js';

export interface TurnErrorShape {
  readonly code: ErrorCode;
  readonly retryable: boolean;
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code);

/** The error behind stored columns; null when there was none. A code of a newer server reads as INTERNAL. */
export function turnErrorOf(code: string | null, retryable: boolean | null): TurnErrorShape | null {
  if (code === null) {
    return null;
  }
  const known = isCode(code) ? code : 'INTERNAL';
  return { code: known, retryable: retryable ?? errorTable[known].retryable };
}

export const TurnError = builder.objectRef<TurnErrorShape>('TurnError').implement({
  description: 'Why a turn or a model call failed.',
  fields: (t) => ({
    code: t.field({
      type: ErrorCodeEnum,
      description: 'The stable code, the same that the request of a waiting client got.',
      resolve: (error) => error.code,
    }),
    message: t.string({
      description:
        'A sentence for people that says what to do. It never holds words of the model provider; do not parse it.',
      resolve: (error) => errorTable[error.code].message,
    }),
    retryable: t.boolean({
      description: 'Whether sending the same message again may succeed without any change.',
      resolve: (error) => error.retryable,
    }),
  }),
});
