import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { describeDatabaseError, isDatabaseUnavailable } from './database-errors.js';
import { MigrationError } from './migration-error.js';

const retryMs = 250;
const logEveryMs = 3_000;

/** What the server said no to at login, which waiting does not change. */
const loginProblems: Readonly<Record<string, string>> = {
  '28P01': 'Postgres refused the password in DATABASE_URL: correct it.',
  '28000': 'Postgres refused the user in DATABASE_URL: correct it, or allow it in pg_hba.conf.',
  '3D000': 'The database named in DATABASE_URL does not exist: create it, or name another one.',
};

/**
 * One connection of its own, outside of any pool: a session lock taken through a pool excludes nobody. Waits for a
 * database that is still starting.
 *
 * @throws MigrationError when it is not there after `waitMs`, or can never be used.
 */
export async function connectForMigration(url: string, log: Logger, waitMs: number): Promise<Client> {
  const startedAt = performance.now();
  let loggedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const client = new Client({
      connectionString: url,
      application_name: 'chatsession migrations',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    // A connection that breaks between two statements emits an error, which nobody else would catch.
    client.on('error', (error) => log.warn(describeDatabaseError(error), 'The connection of the migrations broke'));
    try {
      await client.connect();
      await checkServer(client);
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      const problem = loginProblems[(error as { code?: string }).code ?? ''];
      if (problem !== undefined) throw new MigrationError(problem, { cause: error });
      if (!isDatabaseUnavailable(error)) throw error;
      const now = performance.now();
      if (now - startedAt >= waitMs) {
        throw new MigrationError(
          `Postgres cannot be reached and did not come up within ${Math.round(waitMs / 1_000)} seconds: start it, or correct DATABASE_URL.`,
          { cause: error },
        );
      }
      if (now - loggedAt >= logEveryMs) {
        loggedAt = now;
        log.info(describeDatabaseError(error), 'Waiting for Postgres to accept connections');
      }
      await delay(retryMs);
    }
  }
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`,
  );
  const { version = 0, encoding = '' } = rows[0] ?? {};
  if (version < 140_000) {
    throw new MigrationError(
      `Postgres 14 or later is needed, and this server is version ${Math.floor(version / 10_000)}: upgrade it, or set DATABASE_URL to another one.`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new MigrationError(
      `The database must have the encoding UTF8, and this one has ${encoding}: create another one, or name another one in DATABASE_URL.`,
    );
  }
}
