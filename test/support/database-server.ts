import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.js';
import { lockFolder } from '../../src/db/embedded/folder-lock.js';
import { stopOrphan } from '../../src/db/embedded/orphan.js';
import { migrate } from '../../src/db/migrate.js';
import { silentLog } from './log.js';

/** The Postgres of one test run, with a migrated database to copy from. */
export interface TestServer {
  readonly url: string;
  readonly template: string;
  stop(): Promise<void>;
}

/** Uses the given server, or else starts one that is thrown away afterwards. */
export async function startTestServer(givenUrl: string | undefined): Promise<TestServer> {
  const server = givenUrl === undefined ? await startThrowAwayServer() : { url: givenUrl, stop: async () => {} };
  const prefix = `chatsession_test_${randomBytes(5).toString('hex')}`;
  const template = `${prefix}_template`;
  const dropAll = async () => {
    const { rows } = await runSql<{ name: string }>(
      server.url,
      `SELECT datname AS name FROM pg_database WHERE datname LIKE '${prefix}%'`,
    );
    for (const { name } of rows) await runSql(server.url, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  };
  const stop = async () => {
    try {
      if (givenUrl !== undefined) await dropAll();
    } finally {
      await server.stop();
    }
  };
  try {
    await runSql(server.url, `CREATE DATABASE "${template}" ENCODING 'UTF8' TEMPLATE template0`);
    await migrate(databaseUrl(server.url, template), silentLog);
    return { url: server.url, template, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Begins the name of every folder with the data of a server of tests; what killed runs leave is cleared away by it. */
export const folderPrefix = 'chatsession-test-';

async function startThrowAwayServer() {
  await sweepFolders();
  const dataDir = await mkdtemp(join(tmpdir(), folderPrefix));
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, durable: false, maxConnections: 200 });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Clears away what runs that were killed have left, servers included. */
async function sweepFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(folderPrefix)) continue;
    const folder = join(tmpdir(), name);
    try {
      // A younger one may belong to a run that is about to lock it.
      if (Date.now() - (await stat(folder)).mtimeMs < 60_000) continue;
      await lockFolder(folder);
      await stopOrphan(join(folder, 'postgres', 'data'), silentLog);
      await rm(folder, { recursive: true, force: true });
    } catch {
      // In use by another run, or swept by one.
    }
  }
}

/** The same server, another database. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs one statement on a connection of its own. */
export async function runSql<Row extends object>(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.query<Row & Record<string, unknown>>(sql);
  } finally {
    await client.end();
  }
}
