import { createHash } from 'node:crypto';
import type { Queryable } from './queryable.js';

/** How a column of a list's key is written in a cursor. */
export type KeyType = 'integer' | 'instant' | 'decimal' | 'uuid';

export interface KeyColumn {
  readonly column: string;
  readonly type: KeyType;
}

/** A condition on the rows of a list; `$` stands for the value. */
export interface Condition {
  readonly sql: string;
  readonly value?: unknown;
}

/**
 * A list that can be read page by page. Its key is unique within one list and backed by an index, so that a page
 * costs what it holds and not what lies before it. All texts are constants of this server.
 */
export interface PagedList {
  /** Tells its cursors from those of other lists and other orders. */
  readonly name: string;
  readonly table: 'messages' | 'turns' | 'model_calls' | 'trace_events' | 'chat_sessions';
  readonly key: readonly KeyColumn[];
  readonly descending: boolean;
  readonly where: readonly Condition[];
}

export interface PageRange {
  /** Key values that the page lies behind, in the order of the list. */
  readonly after: readonly string[] | null;
  readonly before: readonly string[] | null;
  /** Which end of the range the page is taken from; `limit` null takes all. */
  readonly forward: boolean;
  readonly limit: number | null;
}

export interface PageOfKeys {
  readonly rows: readonly { readonly id: string; readonly key: readonly string[] }[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

const toText: Record<KeyType, (column: string) => string> = {
  integer: (column) => `${column}::text`,
  instant: (column) => `(extract(epoch FROM ${column}) * 1000)::bigint::text`,
  decimal: (column) => `${column}::text`,
  uuid: (column) => `${column}::text`,
};

const fromText: Record<KeyType, { cast: string; value: (text: string) => string }> = {
  integer: { cast: 'integer', value: (text) => text },
  instant: { cast: 'timestamptz', value: (text) => new Date(Number(text)).toISOString() },
  decimal: { cast: 'numeric', value: (text) => text },
  uuid: { cast: 'uuid', value: (text) => text },
};

/** Collects the values of a statement and names their places. */
function parameters() {
  const values: unknown[] = [];
  return {
    values,
    place: (value: unknown) => {
      values.push(value);
      return `$${values.length}`;
    },
  };
}

type Place = ReturnType<typeof parameters>['place'];

const parentsSql = (parents: readonly string[] | null, place: Place): string =>
  parents === null ? '(SELECT NULL::uuid AS id) parent' : `unnest(${place(parents)}::uuid[]) AS parent(id)`;

const conditionsOf = (list: PagedList, ofParent: boolean, place: Place): string[] => [
  ...(ofParent ? ['t.session_id = parent.id'] : []),
  ...list.where.map(({ sql, value }) => {
    const at = sql.includes('$') ? place(value) : '';
    return sql.replaceAll('$', () => at);
  }),
];

/**
 * The statement for one page of the same list of many parents, or of one list without a parent. Exported for the test
 * that proves the use of indexes.
 */
export function pageStatement(list: PagedList, parents: readonly string[] | null, range: PageRange) {
  const { values, place } = parameters();
  const from = parentsSql(parents, place);
  const tuple = (parts: readonly string[]) => (parts.length === 1 ? String(parts[0]) : `(${parts.join(', ')})`);
  const key = tuple(list.key.map(({ column }) => `t.${column}`));
  const bound = (texts: readonly string[]) =>
    tuple(
      list.key.map(({ type }, index) => `${place(fromText[type].value(texts[index] ?? ''))}::${fromText[type].cast}`),
    );
  const conditions = conditionsOf(list, parents !== null, place);
  const behind = list.descending ? '<' : '>';
  const inFront = list.descending ? '>' : '<';
  const after = range.after && bound(range.after);
  const before = range.before && bound(range.before);
  const exists = (comparison: string) =>
    `EXISTS (SELECT 1 FROM ${list.table} t WHERE ${[...conditions, comparison].join(' AND ')})`;
  const direction = list.descending === range.forward ? 'DESC' : 'ASC';
  const inRange = [
    ...conditions,
    ...(after ? [`${key} ${behind} ${after}`] : []),
    ...(before ? [`${key} ${inFront} ${before}`] : []),
  ];
  const text = `
SELECT parent.id AS parent, page.id, ${list.key.map((_, index) => `page.key_${index}`).join(', ')}, outside.*
FROM ${from}
CROSS JOIN LATERAL (
  SELECT ${after ? exists(`${key} ${inFront}= ${after}`) : 'false'} AS before_range,
         ${before ? exists(`${key} ${behind}= ${before}`) : 'false'} AS behind_range
  OFFSET 0
) outside
LEFT JOIN LATERAL (
  SELECT t.id, ${list.key.map(({ column, type }, index) => `t.${column} AS sort_${index}, ${toText[type](`t.${column}`)} AS key_${index}`).join(', ')}
  FROM ${list.table} t
  WHERE ${inRange.join(' AND ') || 'true'}
  ORDER BY ${list.key.map(({ column }) => `t.${column} ${direction}`).join(', ')}
  LIMIT ${place(range.limit === null ? null : range.limit + 1)}::bigint
) page ON true
ORDER BY ${list.key.map((_, index) => `page.sort_${index} ${direction}`).join(', ')}`;
  // A text search is planned anew each time: whether its index helps depends on the words.
  const name = parents === null ? {} : { name: `page-${createHash('sha1').update(text).digest('base64url')}` };
  return { ...name, text, values };
}

interface Row {
  parent: string | null;
  id: string | null;
  before_range: boolean;
  behind_range: boolean;
  [key: `key_${number}`]: string;
}

/**
 * One page of keys for each parent, in the order of the list. A parent that is given twice counts once.
 *
 * @param parents ids of sessions, or null for a list that has no parent; its page is then found under null
 */
export async function pagesOf(
  db: Queryable,
  list: PagedList,
  parents: readonly string[] | null,
  range: PageRange,
): Promise<ReadonlyMap<string | null, PageOfKeys>> {
  const ids = parents && [...new Set(parents)];
  const { rows } = await db.query<Row>(pageStatement(list, ids, range));
  const found = new Map<string | null, Row[]>((ids ?? [null]).map((id) => [id, []]));
  for (const row of rows) {
    found.get(row.parent)?.push(row);
  }
  return new Map([...found].map(([parent, group]) => [parent, toPage(list, range, group)]));
}

function toPage(list: PagedList, { forward, limit }: PageRange, group: readonly Row[]): PageOfKeys {
  const found = group.filter((row) => row.id !== null);
  const more = limit !== null && found.length > limit;
  const kept = more ? found.slice(0, limit) : found;
  const rows = kept.map((row) => ({
    id: String(row.id),
    key: list.key.map((_, index) => String(row[`key_${index}`])),
  }));
  const [first] = group;
  return {
    rows: forward ? rows : rows.toReversed(),
    hasPrevious: (first?.before_range ?? false) || (!forward && more),
    hasNext: (first?.behind_range ?? false) || (forward && more),
  };
}

/** How long the list of each parent is, without reading its rows. */
export async function countsOf(
  db: Queryable,
  list: PagedList,
  parents: readonly string[] | null,
): Promise<ReadonlyMap<string | null, number>> {
  const { values, place } = parameters();
  const ids = parents && [...new Set(parents)];
  const { rows } = await db.query<{ parent: string | null; count: number }>({
    text: `
SELECT parent.id AS parent, (
  SELECT count(*)::integer FROM ${list.table} t WHERE ${conditionsOf(list, parents !== null, place).join(' AND ') || 'true'}
) AS count
FROM ${parentsSql(ids, place)}`,
    values,
  });
  return new Map(rows.map(({ parent, count }) => [parent, count]));
}
