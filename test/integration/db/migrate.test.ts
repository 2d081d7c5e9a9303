import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../../src/db/embedded/free-port.js';
import { migrate } from '../../../src/db/migrate.js';
import { MigrationError } from '../../../src/db/migration-error.js';
import { migrationsFolder, readMigrations } from '../../../src/db/migrations.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/database.js';
import { databaseUrl, runSql } from '../../support/database-server.js';
import { recordingLog, silentLog } from '../../support/log.js';

const readRecords = async (url: string) =>
  (await runSql(url, 'SELECT * FROM _prisma_migrations ORDER BY started_at')).rows;

/** A copy of the migrations that a test may change. */
async function copyMigrations() {
  const path = await mkdtemp(join(tmpdir(), 'chatsession-migrations-'));
  await cp(migrationsFolder, path, { recursive: true });
  return {
    folder: pathToFileURL(`${path}/`),
    async add(name: string, sql: string) {
      await mkdir(join(path, name), { recursive: true });
      await writeFile(join(path, name, 'migration.sql'), sql);
    },
    remove: () => rm(path, { recursive: true }),
  };
}

describe('migrating an empty database', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createEmptyDatabase();
  });
  afterEach(() => database.drop());

  it('applies everything once when eight processes start together', async () => {
    const names = (await readMigrations(migrationsFolder)).map((migration) => migration.name);
    const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(database.url, silentLog)));
    expect(applied.filter((list) => list.length > 0)).toEqual([names]);
    expect((await readRecords(database.url)).map((record) => record.migration_name)).toEqual(names);
  });

  it('does nothing at the second run', async () => {
    await migrate(database.url, silentLog);
    const before = await readRecords(database.url);
    expect(await migrate(database.url, silentLog)).toEqual([]);
    expect(await readRecords(database.url)).toEqual(before);
  });

  it('does not start when the database is missing, and says what to do', async () => {
    const attempt = migrate(databaseUrl(database.url, 'chatsession_absent'), silentLog);
    await expect(attempt).rejects.toThrow(MigrationError);
    await expect(attempt).rejects.toThrow('does not exist: create it');
  });

  it('waits for a database that is still starting', async () => {
    const { hostname, port } = new URL(database.url);
    const lateUrl = new URL(database.url);
    lateUrl.hostname = '127.0.0.1';
    lateUrl.port = String(await findFreePort());
    const { log, waitFor } = recordingLog();
    const migrating = migrate(lateUrl.href, log);
    await waitFor('Waiting for Postgres');
    const door = createServer((socket) => {
      const upstream = connect(Number(port || 5432), hostname);
      socket.pipe(upstream).pipe(socket);
      for (const end of [socket, upstream]) end.on('error', () => end.destroy());
    }).listen(Number(lateUrl.port), '127.0.0.1');
    try {
      expect(await migrating).not.toEqual([]);
    } finally {
      door.close();
    }
  });

  it('gives up on a database that never comes', async () => {
    const url = new URL(database.url);
    url.hostname = '127.0.0.1';
    url.port = String(await findFreePort());
    const attempt = migrate(url.href, silentLog, { waitMs: 300 });
    await expect(attempt).rejects.toThrow(MigrationError);
    await expect(attempt).rejects.toThrow('did not come up');
  });
});

describe('a database that does not belong to this build', () => {
  let database: TestDatabase;
  let migrations: Awaited<ReturnType<typeof copyMigrations>>;
  beforeEach(async () => {
    [database, migrations] = await Promise.all([createTestDatabase(), copyMigrations()]);
  });
  afterEach(async () => {
    await Promise.all([database.drop(), migrations.remove()]);
  });
  const run = () => migrate(database.url, silentLog, { folder: migrations.folder });

  it('is refused when an applied migration was changed afterwards', async () => {
    const [first] = await readMigrations(migrations.folder);
    await migrations.add(first?.name ?? '', `${first?.sql}\n-- changed`);
    await expect(run()).rejects.toThrow(`The migration ${first?.name} was changed after it was applied`);
  });

  it('is not refused because a checkout changed the line ends', async () => {
    const [first] = await readMigrations(migrations.folder);
    await migrations.add(first?.name ?? '', (first?.sql ?? '').replaceAll('\n', '\r\n'));
    expect(await run()).toEqual([]);
  });

  it('is refused when it has a migration of a newer build', async () => {
    await migrations.add('99990101000000_newer', 'SELECT 1');
    await run();
    await expect(migrate(database.url, silentLog)).rejects.toThrow(
      'has the migration 99990101000000_newer, which this build does not know',
    );
  });

  it('is refused when Prisma has recorded a failed migration, and taken once that is resolved', async () => {
    await migrations.add('99990101000000_broken', 'SELECT 1');
    await runSql(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs)
       VALUES ('1', '', '99990101000000_broken', 'syntax error')`,
    );
    await expect(run()).rejects.toThrow('The migration 99990101000000_broken failed in this database');
    await runSql(database.url, `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = '1'`);
    expect(await run()).toEqual(['99990101000000_broken']);
  });

  it('keeps nothing of a migration that fails half-way, and takes it once it is mended', async () => {
    const before = await readRecords(database.url);
    await migrations.add('99990101000000_next', 'CREATE TABLE half (id int); SELECT 1 / 0;');
    await expect(run()).rejects.toThrow('The migration 99990101000000_next could not be applied and was undone');
    expect(await readRecords(database.url)).toEqual(before);
    await migrations.add('99990101000000_next', 'CREATE TABLE half (id int);');
    expect(await run()).toEqual(['99990101000000_next']);
  });
});
