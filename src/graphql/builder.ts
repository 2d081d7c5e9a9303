import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import type PrismaTypes from '../db/generated/pothos-types.js';
import { getDatamodel } from '../db/generated/pothos-types.js';
import type { Context } from './context.js';
import { queryLimits, refusal } from './limits.js';

/** The shapes that resolvers meet and return; see https://pothos-graphql.dev/docs/guide/schema-builder. */
export interface SchemaTypes {
  Context: Context;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  Connection: { totalCount: () => number | Promise<number> };
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
    SafeInt: { Input: number; Output: number };
  };
}

/**
 * The one schema builder. It holds definitions only: database, model and principal come with the context of each
 * operation, so that a process may serve several databases and tests build what they need.
 */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ComplexityPlugin, RelayPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  complexity: {
    limit: queryLimits,
    defaultComplexity: 1,
    defaultListMultiplier: 10,
    complexityError: refusal,
  },
  prisma: {
    client: (context) => context.database.prisma,
    dmmf: getDatamodel(),
    exposeDescriptions: false,
    // A selection that a resolver forgets to pass on would be loaded again, row by row.
    onUnusedQuery: 'error',
  },
  relay: {
    // Both are defined in types/node.ts, where ids are checked and owners are part of the query.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: {
      description: 'Anything that has a stable, opaque id and can be fetched again with node(id:).',
    },
    idFieldOptions: {
      description: 'Opaque id: keep it as it is, compare it as a whole, and do not build one yourself.',
    },
    defaultConnectionTypeOptions: {
      description: 'One page of a list: ask for nodes, or for edges when you need the cursors.',
    },
    defaultEdgeTypeOptions: { description: 'An object of a list together with its place in it.' },
    pageInfoTypeOptions: { description: 'Where a page of a connection lies in its list.' },
    hasNextPageFieldOptions: {
      description: 'Whether the list goes on after the last edge of this page, in either direction of paging.',
    },
    hasPreviousPageFieldOptions: {
      description: 'Whether the list has something before the first edge of this page, in either direction of paging.',
    },
    startCursorFieldOptions: {
      description:
        'Cursor of the first edge, to be given as before for the page in front of it; null on an empty page.',
    },
    endCursorFieldOptions: {
      description: 'Cursor of the last edge, to be given as after for the page behind it; null on an empty page.',
    },
    cursorFieldOptions: {
      description: 'Opaque position of this edge, for after and before. It stays valid when its object is deleted.',
    },
    nodeFieldOptions: { description: 'The object at this place of the list.' },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The objects of this page with their cursors, in the order of the list.',
      complexity: { field: 1, multiplier: 1 },
    },
    pageInfoFieldOptions: { description: 'Whether the list goes on, and the cursors to go on with.' },
    nodesOnConnection: {
      description: 'The objects of this page without their cursors: a shortcut for edges { node }.',
      complexity: { field: 1, multiplier: 1 },
    },
    firstArgOptions: {
      description:
        'Take this many from the front of the list (behind after). 20 when neither first nor last is given; more than 100 count as 100; 0 gives an empty page. A negative number, or first together with last, is BAD_USER_INPUT.',
    },
    lastArgOptions: {
      description:
        'Take this many from the end of the list (in front of before); the order stays that of the list. More than 100 count as 100. A negative number, or first together with last, is BAD_USER_INPUT.',
    },
    afterArgOptions: {
      description: 'Cursor of this list: only what lies behind it. Anything else is BAD_USER_INPUT.',
    },
    beforeArgOptions: {
      description: 'Cursor of this list: only what lies in front of it. Anything else is BAD_USER_INPUT.',
    },
  },
});

builder.queryType({
  description:
    'Everything that can be read. A field about one object answers null with the error NOT_FOUND when there is no such object or it is not yours.',
});
builder.mutationType({
  description:
    'Everything that changes something. A refusal is an error with extensions.code and leaves nothing behind; several mutations of one document run one after the other.',
});
builder.subscriptionType({
  description: 'Live events, over WebSocket (graphql-transport-ws) or server-sent events. Leaving one stops nothing.',
});

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description: 'How long the whole list is, under the same filter. Counted only when it is selected.',
    resolve: (connection) => connection.totalCount(),
  }),
);
