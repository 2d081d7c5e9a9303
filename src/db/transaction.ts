import type { Pool } from 'pg';
import type { Queryable } from './queries/queryable.js';

/**
 * Runs statements in one short transaction. Nothing but statements may be awaited inside: a transaction that waits for
 * a model or a tool holds a connection and its locks.
 */
export async function inTransaction<Result>(pool: Pool, work: (db: Queryable) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollback: Error) => {
      broken = rollback;
    });
    throw error;
  } finally {
    // A connection that could not even roll back is in an unknown state and must not go back to the pool.
    client.release(broken);
  }
}
