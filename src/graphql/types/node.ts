import { brandWithType } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import { badInput, ChatError } from '../../errors.js';
import { builder } from '../builder.js';
import type { Context } from '../context.js';
import { flushBehind } from '../flush.js';
import { found } from '../found.js';
import { parseGlobalId } from '../ids.js';
import { findRows, type HasId, type Model } from '../rows.js';

const maxNodes = 100;

/** Every type that implements Node, and how its owner is found. A test holds it against the schema. */
const nodeTypes: Record<string, { readonly model: Model; readonly ownedBy: 'row' | 'session' }> = {
  ChatSession: { model: 'chatSession', ownedBy: 'row' },
  Message: { model: 'message', ownedBy: 'session' },
  Turn: { model: 'turn', ownedBy: 'session' },
  // A ledger row outlives its session, so it carries its owner itself.
  ModelCall: { model: 'modelCall', ownedBy: 'row' },
  TraceEvent: { model: 'traceEvent', ownedBy: 'session' },
};

interface NodeId {
  readonly type: string;
  readonly id: string;
}

/** @throws ChatError BAD_USER_INPUT for everything that is not the id of a Node */
function nodeId(value: string, name: string): NodeId {
  const parsed = parseGlobalId(value);
  if (parsed === null || !Object.hasOwn(nodeTypes, parsed.type)) {
    throw badInput(`${name} must be an id of type ${Object.keys(nodeTypes).join(', ')}, as this server gave it out.`);
  }
  return parsed;
}

/** The caller's objects among `ids`, by type and id: one statement per type, whatever the number of ids. */
async function loadNodes(
  context: Context,
  info: GraphQLResolveInfo,
  ids: readonly NodeId[],
): Promise<ReadonlyMap<string, HasId>> {
  const { principal, database } = context;
  const idsOf = (type: string) => [...new Set(ids.filter((node) => node.type === type).map(({ id }) => id))];
  await flushBehind(context, { sessions: idsOf('ChatSession'), turns: idsOf('Turn'), messages: idsOf('Message') });
  const owned = { owner: principal.owner, tenant: principal.tenant };
  const nodes = new Map<string, HasId>();
  await Promise.all(
    Object.entries(nodeTypes).map(async ([type, { model, ownedBy }]) => {
      const wanted = idsOf(type);
      if (wanted.length === 0) {
        return;
      }
      const selection = queryFromInfo({ context, info, typeName: type });
      const where = { id: { in: wanted }, ...(ownedBy === 'row' ? owned : { session: owned }) };
      for (const row of await findRows(database.prisma, model, selection, where)) {
        // Tells the Node interface which of its types the row has.
        brandWithType(row, type as never);
        nodes.set(`${type} ${row.id}`, row);
      }
    }),
  );
  return nodes;
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description:
      'Any object by its id, for refetching. NOT_FOUND when there is no such object or it is not yours; BAD_USER_INPUT when the id is malformed or of a type that cannot be fetched.',
    args: { id: t.arg.id({ required: true, description: 'Opaque id, as this server gave it out.' }) },
    resolve: async (_root, args, context, info) => {
      const { type, id } = nodeId(args.id, 'id');
      const nodes = await loadNodes(context, info, [{ type, id }]);
      return found(nodes.get(`${type} ${id}`));
    },
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description: `Several objects by their ids, in the order of the ids. One that is not there or not yours is null at its place, with an error NOT_FOUND of its own; a malformed id refuses the whole list. At most ${maxNodes} ids.`,
    args: {
      ids: t.arg.idList({
        required: true,
        description: `Opaque ids, as this server gave them out; at most ${maxNodes}.`,
      }),
    },
    complexity: ({ ids }) => ({ field: 1, multiplier: Math.min(ids.length, maxNodes) }),
    resolve: async (_root, args, context, info) => {
      if (args.ids.length > maxNodes) {
        throw badInput(`ids must not be more than ${maxNodes}: ask for the rest in another operation.`);
      }
      const ids = args.ids.map((id, index) => nodeId(id, `ids[${index}]`));
      const nodes = await loadNodes(context, info, ids);
      // graphql makes an error of its own out of each Error in a list.
      return ids.map(({ type, id }) => nodes.get(`${type} ${id}`) ?? new ChatError('NOT_FOUND')) as HasId[];
    },
  }),
}));
