// A process of its own that runs the embedded Postgres: `node --import tsx test/support/embedded-server.ts <folder>`.
// It writes a line of JSON per event: what it started, or why it could not. Signals end it the way the server does.

import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.js';
import { runSql } from './database-server.js';
import { silentLog } from './log.js';

const say = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);
const [dataDir = '', then] = process.argv.slice(2);
const startedAt = performance.now();
try {
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog });
  process.once('SIGTERM', async () => {
    await server.stop();
    say({ stopped: true });
  });
  process.once('SIGINT', async () => {
    await runSql(server.url, 'SELECT pg_sleep(0.2)');
    say({ stillServing: true });
    await server.stop();
  });
  say({ url: server.url, startMs: Math.round(performance.now() - startedAt) });
} catch (error) {
  say({ error: (error as Error).name, message: (error as Error).message });
  process.exitCode = 1;
}
if (then === 'exit') process.exit(0);
if (then === 'crash') throw new Error('a bug somewhere else');
