import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/db/embedded/embedded-postgres.js';
import { createLog } from '../../dist/observability/log.js';

const dataDir = fileURLToPath(new URL('../.data', import.meta.url));
const setUp = [
  "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'",
  // A peer that opens many connections must not fail for want of them.
  'ALTER SYSTEM SET max_connections = 300',
];

async function runAll(url, statements) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/**
 * The Postgres of one whole run: the embedded one of the product, which is a plain Postgres with its own defaults,
 * durable, and counting statements. With a url, that server is used as it is.
 */
export async function startPostgres(url) {
  if (url !== undefined) return { url, stop: async () => {} };
  const options = { dataDir, log: createLog('error'), maxConnections: 300 };
  await rm(dataDir, { recursive: true, force: true });
  const first = await startEmbeddedPostgres(options);
  await runAll(first.url, setUp);
  await first.stop();
  const server = await startEmbeddedPostgres(options);
  await runAll(server.url, ['CREATE EXTENSION pg_stat_statements']);
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
