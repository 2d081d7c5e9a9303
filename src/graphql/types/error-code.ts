import { type ErrorCode, errorTable } from '../../errors.js';
import { builder } from '../builder.js';

const codes = Object.keys(errorTable) as ErrorCode[];

const values = Object.fromEntries(codes.map((code) => [code, { description: errorTable[code].description }])) as Record<
  ErrorCode,
  { description: string }
>;

export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'Every code that a client can meet: in errors[].extensions.code, in Turn.error and in TurnFailed. A code is never renamed or removed; new ones may come, so treat one that you do not know like INTERNAL.',
  values,
});
