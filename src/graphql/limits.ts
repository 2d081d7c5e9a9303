import type { ComplexityErrorFn } from '@pothos/plugin-complexity';
import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, type GraphQLResolveInfo, Kind } from 'graphql';
import { badInput, type ChatError } from '../errors.js';
import type { Context } from './context.js';

/**
 * What one operation may ask for. `complexity` counts fields, times the size of every list around them: about the
 * number of values of the largest answer. Introspection is not counted.
 */
export const queryLimits = { depth: 20, breadth: 1_000, complexity: 50_000 };

const advice = {
  Complexity: 'ask for smaller pages (first, last) or fewer fields',
  Depth: 'nest fewer fields into each other',
  Breadth: 'select fewer fields in one operation',
};

const tooMuch = (kind: keyof typeof advice, actual: number, most: number): ChatError =>
  badInput(`This operation asks for too much: its ${kind.toLowerCase()} is ${actual} of ${most}; ${advice[kind]}.`);

/** The error of the complexity plugin, in the vocabulary of this server. */
export const refusal: ComplexityErrorFn = (kind, result) => {
  const key = kind.toLowerCase() as keyof typeof queryLimits;
  return tooMuch(kind, result[key], queryLimits[key]);
};

/**
 * Refuses a subscription that asks for too much before anything starts. The plugin looks at resolvers only, which for
 * a subscription run after its turn was accepted.
 *
 * @throws ChatError BAD_USER_INPUT
 */
export function checkSubscriptionLimits(context: Context, info: GraphQLResolveInfo): void {
  const document: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [info.operation, ...Object.values(info.fragments)],
  };
  const found = complexityFromQuery(document, {
    schema: info.schema,
    ctx: context,
    variables: info.variableValues as Record<string, unknown>,
  });
  for (const kind of ['Complexity', 'Depth', 'Breadth'] as const) {
    const key = kind.toLowerCase() as keyof typeof queryLimits;
    if (found[key] > queryLimits[key]) {
      throw tooMuch(kind, found[key], queryLimits[key]);
    }
  }
}
