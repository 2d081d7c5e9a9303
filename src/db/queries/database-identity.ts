import { createHash } from 'node:crypto';
import type { Queryable } from './queryable.js';

// The first migration got a random id when it was applied. A database that was copied from another one shares it, but
// not the name beside it.
const text = `
SELECT current_database() AS name, current_schema() AS schema,
       (SELECT id FROM _prisma_migrations ORDER BY started_at, id LIMIT 1) AS id`;

/** The same for all processes on one database, however they reach it, and another one for every other database. */
export async function databaseIdentity(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ name: string; schema: string; id: string }>({ name: 'database-identity', text });
  return createHash('sha256').update(JSON.stringify(rows[0])).digest('base64url').slice(0, 12);
}
