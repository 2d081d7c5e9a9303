import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { connectForMigration } from './migration-connection.js';
import { MigrationError } from './migration-error.js';
import { type Migration, migrationsFolder, readMigrations } from './migrations.js';

/** The number that Prisma's own migrate commands lock, so that they and we exclude each other. */
const prismaLock = 72_707_369;
const lockLogMs = 5_000;
const lockWaitMs = 300_000;

export interface MigrateOptions {
  /** How long to wait for a database that does not accept connections yet. Default 30 s. */
  readonly waitMs?: number;
  /** Where the migrations are; for tests. */
  readonly folder?: URL;
}

/**
 * Brings the database to the schema of this build and returns the names of the migrations that were applied. Any number
 * of processes may call it at once: one works, the others wait and find nothing to do. It leaves `_prisma_migrations`
 * as `prisma migrate deploy` would, which therefore agrees with it. Each migration is one transaction.
 *
 * @throws MigrationError when the database and this build do not belong together.
 */
export async function migrate(url: string, log: Logger, options: MigrateOptions = {}): Promise<readonly string[]> {
  const migrations = await readMigrations(options.folder ?? migrationsFolder);
  const client = await connectForMigration(url, log, options.waitMs ?? 30_000);
  try {
    await takeLock(client, log);
    await createTable(client);
    const pending = findPending(migrations, await readRecords(client));
    for (const migration of pending) {
      await apply(client, migration);
      log.info({ migration: migration.name }, 'Applied a migration');
    }
    return pending.map((migration) => migration.name);
  } finally {
    // The lock belongs to the connection and ends with it.
    await client.end();
  }
}

async function takeLock(client: Client, log: Logger): Promise<void> {
  await client.query(`SET lock_timeout = ${lockLogMs}`);
  for (let waited = 0; ; waited += lockLogMs) {
    try {
      await client.query('SELECT pg_advisory_lock($1)', [prismaLock]);
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error;
      if (waited >= lockWaitMs) {
        throw new MigrationError(
          `Another process has been migrating this database for ${lockWaitMs / 60_000} minutes: look at it, and start again when it has ended.`,
          { cause: error },
        );
      }
      log.info('Waiting for another process that is migrating the database');
    }
  }
  // A statement of a migration may wait for a running replica's locks for as long as it takes.
  await client.query('SET lock_timeout = 0');
}

/** Prisma's own definition of its table. */
async function createTable(client: Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found`,
  );
  if (rows[0]?.found) return;
  await client.query(`
    CREATE TABLE _prisma_migrations (
      id                  VARCHAR(36) PRIMARY KEY NOT NULL,
      checksum            VARCHAR(64) NOT NULL,
      finished_at         TIMESTAMPTZ,
      migration_name      VARCHAR(255) NOT NULL,
      logs                TEXT,
      rolled_back_at      TIMESTAMPTZ,
      started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
      applied_steps_count INTEGER NOT NULL DEFAULT 0
    )`);
}

interface MigrationRecord {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

async function readRecords(client: Client): Promise<readonly MigrationRecord[]> {
  const { rows } = await client.query<MigrationRecord>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return rows;
}

function findPending(migrations: readonly Migration[], records: readonly MigrationRecord[]): readonly Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum, finished } of records) {
    if (!finished) {
      throw new MigrationError(
        `The migration ${name} failed in this database: mend what it left, then record that with prisma migrate resolve.`,
      );
    }
    const migration = known.get(name);
    if (migration === undefined) {
      throw new MigrationError(
        `The database has the migration ${name}, which this build does not know: start the newer build that made it, or use another database.`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new MigrationError(
        `The migration ${name} was changed after it was applied to this database: restore prisma/migrations/${name}/migration.sql, and make the change with a new migration.`,
      );
    }
  }
  const applied = new Set(records.map((record) => record.name));
  return migrations.filter((migration) => !applied.has(migration.name));
}

/** The record is part of the migration's own transaction, so a migration that fails leaves nothing at all. */
async function apply(client: Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
       VALUES ($1, $2, clock_timestamp(), $3, now(), 1)`,
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {});
    throw new MigrationError(`The migration ${name} could not be applied and was undone: see the log for the reason.`, {
      cause,
    });
  }
}
