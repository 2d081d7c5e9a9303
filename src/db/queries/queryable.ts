import type { QueryConfig, QueryResult, QueryResultRow } from 'pg';

/** A pool, or a client inside a transaction. */
export interface Queryable {
  query<Row extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<Row>>;
}
