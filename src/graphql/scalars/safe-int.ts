import { GraphQLScalarType, type GraphQLScalarTypeConfig } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { builder } from '../builder.js';

export const safeIntScalar = new GraphQLScalarType<number, number>({
  ...(GraphQLSafeInt.toConfig() as GraphQLScalarTypeConfig<number, number>),
  name: 'SafeInt',
  description:
    'A whole number up to 2^53 - 1, as a JSON number that JavaScript keeps exactly. Token counts need it, since Int ends at 2^31 - 1.',
});

builder.addScalarType('SafeInt', safeIntScalar);
