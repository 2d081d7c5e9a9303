import { GraphQLScalarType } from 'graphql';
import { GraphQLDateTimeISO } from 'graphql-scalars';
import { builder } from '../builder.js';
import { invalidValue } from './invalid-value.js';

const iso = GraphQLDateTimeISO.toConfig();

/** Postgres has no year 0, and nothing here is that old. */
function inTheDatabasesRange(date: Date): Date {
  if (date.getUTCFullYear() < 1) {
    throw invalidValue('DateTime cannot represent a time before the year 1');
  }
  return date;
}

export const dateTimeScalar = new GraphQLScalarType<Date, string>({
  ...iso,
  name: 'DateTime',
  description:
    'A point in time as ISO 8601 text (RFC 3339). Answers are always UTC with milliseconds: 2026-11-30T08:15:00.000Z. Inputs may have any offset, but need one.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  parseValue: (value) => inTheDatabasesRange(iso.parseValue(value)),
  parseLiteral: (node, variables) => inTheDatabasesRange(iso.parseLiteral(node, variables)),
});

builder.addScalarType('DateTime', dateTimeScalar);
