import type { Condition, PagedList } from './pages.js';
import type { Queryable } from './queryable.js';

interface Caller {
  readonly owner: string;
  readonly tenant: string;
}

/** Undefined and null filter nothing. `search` is in the syntax of websearch_to_tsquery. */
export interface SessionFilter {
  readonly status?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly createdAfter?: Date | null | undefined;
  readonly createdBefore?: Date | null | undefined;
  readonly search?: string | null | undefined;
}

export type SessionOrder = 'UPDATED_AT_DESC' | 'UPDATED_AT_ASC' | 'CREATED_AT_DESC' | 'CREATED_AT_ASC' | 'COST_DESC';

/** Each order has its index: (tenant, owner, column, id). */
const orders = {
  UPDATED_AT_DESC: { column: 'updated_at', type: 'instant', descending: true },
  UPDATED_AT_ASC: { column: 'updated_at', type: 'instant', descending: false },
  CREATED_AT_DESC: { column: 'created_at', type: 'instant', descending: true },
  CREATED_AT_ASC: { column: 'created_at', type: 'instant', descending: false },
  COST_DESC: { column: 'total_cost_usd', type: 'decimal', descending: true },
} as const;

/** Both parts repeat the expression and the condition of their GIN index word by word, or it would not be used. */
const search = `t.id IN (
  SELECT s.id FROM chat_sessions s
  WHERE to_tsvector('simple', coalesce(s.title, '')) @@ websearch_to_tsquery('simple', $::text)
  UNION ALL
  SELECT m.session_id FROM messages m
  WHERE to_tsvector('simple', left(m.content, 100000)) @@ websearch_to_tsquery('simple', $::text)
    AND m.trimmed_at IS NULL AND m.role <> 'TOOL'
)`;

/** The sessions of one caller as a list that can be read page by page. */
export function ownedSessions(caller: Caller, filter: SessionFilter, order: SessionOrder): PagedList {
  const { column, type, descending } = orders[order];
  const optional = (sql: string, value: unknown): Condition[] => (value == null ? [] : [{ sql, value }]);
  return {
    name: `chatSessions:${order}`,
    table: 'chat_sessions',
    key: [
      { column, type },
      { column: 'id', type: 'uuid' },
    ],
    descending,
    where: [
      { sql: 't.tenant = $', value: caller.tenant },
      { sql: 't.owner = $', value: caller.owner },
      ...optional('t.status = $::chat_session_status', filter.status),
      ...optional('t.model = $', filter.model),
      ...optional('t.created_at > $::timestamptz', filter.createdAfter),
      ...optional('t.created_at < $::timestamptz', filter.createdBefore),
      ...optional(search, filter.search),
    ],
  };
}

/**
 * Whether a search text names a word that has to occur. One that only excludes words, or has no word at all, cannot
 * use an index and would read every message there is.
 */
export async function isIndexableSearch(db: Queryable, text: string): Promise<boolean> {
  const { rows } = await db.query<{ tree: string }>({
    name: 'search-tree',
    text: `SELECT querytree(websearch_to_tsquery('simple', $1::text)) AS tree`,
    values: [text],
  });
  // querytree answers 'T' for what an index cannot narrow down, and nothing for a query without words.
  const tree = rows[0]?.tree ?? '';
  return tree !== '' && tree !== 'T';
}

/**
 * Which of the caller's sessions have a turn that runs or waits, among sessions, turns and messages that were asked
 * for by their ids. Ids of other callers lead to nothing.
 */
export async function activeSessionsBehind(
  db: Queryable,
  caller: Caller,
  ids: {
    readonly sessions?: readonly string[] | undefined;
    readonly turns?: readonly string[] | undefined;
    readonly messages?: readonly string[] | undefined;
  },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'active-sessions-behind',
    text: `
WITH wanted AS (
  SELECT unnest($3::uuid[]) AS id
  UNION SELECT session_id FROM turns WHERE id = ANY ($4::uuid[])
  UNION SELECT session_id FROM messages WHERE id = ANY ($5::uuid[])
)
SELECT s.id FROM wanted JOIN chat_sessions s ON s.id = wanted.id
WHERE s.owner = $1 AND s.tenant = $2 AND s.active_turn_id IS NOT NULL`,
    values: [caller.owner, caller.tenant, ids.sessions ?? [], ids.turns ?? [], ids.messages ?? []],
  });
  return rows.map(({ id }) => id);
}
