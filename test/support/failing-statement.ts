import type pg from 'pg';
import type { Database } from '../../src/db/database.js';

/** What a server that is shut down says to those that are connected. */
const terminated = () =>
  Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });

/**
 * The database, as a restart of it leaves it to a statement: the first one of this name fails. It is refused, or
 * carried out although its answer is lost.
 */
export function failingOnce(database: Database, name: string, how: 'refused' | 'answer lost') {
  let isDue = true;
  const query = async (config: pg.QueryConfig) => {
    const fails = isDue && config.name === name;
    if (fails) isDue = false;
    if (fails && how === 'refused') throw terminated();
    const result = await database.pool.query(config);
    if (fails) throw terminated();
    return result;
  };
  const pool = new Proxy(database.pool, {
    get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)),
  });
  return { database: { ...database, pool } as Database, hasFailed: () => !isDue };
}
