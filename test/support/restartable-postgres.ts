import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.js';
import { migrate } from '../../src/db/migrate.js';
import type { TestDatabase } from './database.js';
import { databaseUrl, folderPrefix, runSql } from './database-server.js';
import { readPostmasterPid } from './embedded-process.js';
import { silentLog } from './log.js';

/** Fast ends connections and writes a checkpoint, immediate is a crash that is recovered from. */
export type Shutdown = 'fast' | 'immediate';

/** A Postgres of a test's own, to be restarted under its clients. */
export interface RestartablePostgres {
  /** A migrated database. */
  readonly database: TestDatabase;
  /** Resolves when connections are accepted again, with the time that none were, in milliseconds. */
  restart(how: Shutdown): Promise<number>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), folderPrefix));
  // What is committed has to outlive an immediate shutdown.
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, durable: true });
  const name = `chatsession_${randomBytes(5).toString('hex')}`;
  const close = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const url = databaseUrl(server.url, name);
  try {
    await runSql(server.url, `CREATE DATABASE "${name}" ENCODING 'UTF8' TEMPLATE template0`);
    await migrate(url, silentLog);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    database: { url, drop: async () => {} },
    async restart(how) {
      const pid = await readPostmasterPid(dataDir);
      const begun = performance.now();
      process.kill(pid, how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      for (;;) {
        // Its keeper starts another one as soon as this one has ended.
        const present = await readPostmasterPid(dataDir).catch(() => pid);
        if (present !== pid && (await isUp(url))) return Math.round(performance.now() - begun);
        await sleep(10);
      }
    },
    close,
  };
}

const isUp = (url: string) =>
  runSql(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
