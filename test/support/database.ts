import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { databaseUrl, runSql } from './database-server.js';

export interface TestDatabase {
  readonly url: string;
  /** Drops it, open connections included. */
  drop(): Promise<void>;
}

/** A migrated database of the caller's own: make one per test file in `beforeAll`, drop it in `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { template } = inject('databaseServer');
  return createDatabase(`TEMPLATE "${template}"`);
}

/** A database without any table, for tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase(`ENCODING 'UTF8' TEMPLATE template0`);
}

async function createDatabase(how: string): Promise<TestDatabase> {
  const { url, template } = inject('databaseServer');
  const name = template.replace('template', randomBytes(5).toString('hex'));
  await runSql(url, `CREATE DATABASE "${name}" ${how}`);
  return {
    url: databaseUrl(url, name),
    async drop() {
      await runSql(url, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    },
  };
}
