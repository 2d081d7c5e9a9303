import type { PagedList } from './pages.js';

/** What is in the history of a session now, tool messages included. Index: messages_history_idx. */
export const messagesList: PagedList = {
  name: 'messages',
  table: 'messages',
  key: [{ column: 'sequence', type: 'integer' }],
  descending: false,
  where: [{ sql: 't.trimmed_at IS NULL' }],
};

/** What user and model said. Index: messages_history_idx. */
export const historyList: PagedList = {
  ...messagesList,
  name: 'history',
  where: [{ sql: 't.trimmed_at IS NULL' }, { sql: "t.role <> 'TOOL'" }],
};

export const turnsList: PagedList = {
  name: 'turns',
  table: 'turns',
  key: [{ column: 'number', type: 'integer' }],
  descending: false,
  where: [],
};

export const modelCallsList: PagedList = {
  name: 'modelCalls',
  table: 'model_calls',
  key: [
    { column: 'created_at', type: 'instant' },
    { column: 'id', type: 'uuid' },
  ],
  descending: false,
  where: [],
};

/** @param types only these kinds of record; null takes all */
export const traceEventsList = (types: readonly string[] | null): PagedList => ({
  name: 'traceEvents',
  table: 'trace_events',
  key: [{ column: 'sequence', type: 'integer' }],
  descending: false,
  where: types === null ? [] : [{ sql: 't.type = ANY ($::trace_event_type[])', value: types }],
});
