import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import { countsOf, type PagedList, type PageOfKeys, type PageRange, pagesOf } from '../db/queries/pages.js';
import { batched } from './batch.js';
import type { Context } from './context.js';
import { decodeCursor, encodeCursor } from './cursors.js';
import { type PageArguments, pageRequest } from './paging.js';
import { type HasId, type Model, rowsById, type Selection } from './rows.js';

/** A list of the schema: where its keys and its rows come from. */
export interface ListSource {
  readonly list: PagedList;
  readonly model: Model;
  /** The GraphQL type of its nodes. */
  readonly type: string;
}

interface LoadedPage<Row> {
  readonly keys: PageOfKeys;
  /** The rows of `keys`, in their order; one that was deleted in between is undefined. */
  readonly rows: readonly (Row | undefined)[];
}

interface Parent {
  /** Null for a list of the root. */
  readonly sessionId: string | null;
  readonly info: GraphQLResolveInfo;
}

/**
 * One page of a list, batched over all objects that ask for it: one statement for the keys, one findMany with the
 * document's selection for the rows. Prisma's own nested paging is not used: it reads whole lists and cuts them in
 * memory.
 *
 * @param paths where the document selects the nodes, below the field; empty when the field is the list itself
 */
export function loadPage<Row extends HasId>(
  context: Context,
  parent: Parent,
  source: ListSource,
  range: PageRange,
  paths: string[][],
): Promise<LoadedPage<Row>> {
  return batched<Parent, LoadedPage<Row>>(context, parent.info, 'page', parent, async (parents) => {
    const { pool, prisma } = context.database;
    const isRoot = parent.sessionId === null;
    const keys = await pagesOf(
      pool,
      source.list,
      isRoot ? null : parents.map(({ sessionId }) => String(sessionId)),
      range,
    );
    // Every object needs its own call, as it is what tells Pothos that the rows below hold what they select.
    const selections: Selection[] = parents.map(({ info }) =>
      queryFromInfo({ context, info, typeName: source.type, paths, select: { id: true } }),
    );
    const ids = [...keys.values()].flatMap(({ rows }) => rows.map(({ id }) => id));
    const rows =
      ids.length === 0 ? new Map<string, Row>() : await rowsById<Row>(prisma, source.model, selections[0] ?? {}, ids);
    return parents.map(({ sessionId }) => {
      const page = keys.get(sessionId);
      return page
        ? { keys: page, rows: page.rows.map(({ id }) => rows.get(id)) }
        : new Error('A page was lost on its way.');
    });
  });
}

export interface ConnectionOf<Row> {
  readonly edges: Promise<{ cursor: string; node: Row }[]>;
  readonly pageInfo: Promise<{
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  }>;
  readonly totalCount: () => number | Promise<number>;
}

const nodePaths = [['nodes'], ['edges', 'node']];

/**
 * A connection. Its arguments are checked at once; its page and its length are each read only when the document
 * selects something of them.
 *
 * @param totalCount the length of the list when the parent knows it; counted in the database otherwise
 * @throws ChatError BAD_USER_INPUT for arguments and cursors that make no page
 */
export function connectionOf<Row extends HasId>(
  context: Context,
  parent: Parent,
  source: ListSource,
  args: PageArguments,
  totalCount?: number,
): ConnectionOf<Row> {
  const { list } = source;
  const { size, forward } = pageRequest(args);
  const range: PageRange = {
    forward,
    limit: size,
    after: args.after == null ? null : decodeCursor(list, args.after, 'after'),
    before: args.before == null ? null : decodeCursor(list, args.before, 'before'),
  };
  let page: Promise<LoadedPage<Row>> | undefined;
  const load = () => {
    page ??= loadPage<Row>(context, parent, source, range, nodePaths);
    return page;
  };
  const edgesOf = ({ keys, rows }: LoadedPage<Row>) =>
    keys.rows.flatMap(({ key }, index) => {
      const node = rows[index];
      return node ? [{ cursor: encodeCursor(list, key), node }] : [];
    });
  return {
    get edges() {
      return load().then(edgesOf);
    },
    get pageInfo() {
      return load().then((loaded) => {
        const edges = edgesOf(loaded);
        return {
          hasNextPage: loaded.keys.hasNext,
          hasPreviousPage: loaded.keys.hasPrevious,
          startCursor: edges.at(0)?.cursor ?? null,
          endCursor: edges.at(-1)?.cursor ?? null,
        };
      });
    },
    totalCount: () => totalCount ?? countList(context, parent, list),
  };
}

function countList(context: Context, parent: Parent, list: PagedList): Promise<number> {
  return batched<Parent, number>(context, parent.info, 'count', parent, async (parents) => {
    const isRoot = parent.sessionId === null;
    const counts = await countsOf(
      context.database.pool,
      list,
      isRoot ? null : parents.map(({ sessionId }) => String(sessionId)),
    );
    return parents.map(({ sessionId }) => counts.get(sessionId) ?? 0);
  });
}
