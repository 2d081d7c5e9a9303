import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { Pool } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { openSchemaEngine } from '../../../scripts/schema-engine.js';
import { migrate } from '../../../src/db/migrate.js';
import { migrationsFolder, readMigrations } from '../../../src/db/migrations.js';
import { readCatalog } from '../../support/catalog.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/database.js';
import { runSql } from '../../support/database-server.js';
import { silentLog } from '../../support/log.js';

describe('our migrations and those of Prisma', () => {
  const databases: TestDatabase[] = [];
  afterEach(async () => {
    await Promise.all(databases.splice(0).map((database) => database.drop()));
  });
  const use = async (database: Promise<TestDatabase>) => {
    databases.push(await database);
    return (await database).url;
  };

  it('Prisma finds nothing to apply in a database that we migrated', async () => {
    const url = await use(createTestDatabase());
    expect(await deployWithPrisma(url)).toEqual([]);
  });

  it('we find nothing to apply in a database that Prisma migrated', async () => {
    const url = await use(createEmptyDatabase());
    const names = (await readMigrations(migrationsFolder)).map((migration) => migration.name);
    expect(await deployWithPrisma(url)).toEqual(names);
    expect(await migrate(url, silentLog)).toEqual([]);
  });

  it('both leave the same records in the same table', async () => {
    const ours = await use(createTestDatabase());
    const theirs = await use(createEmptyDatabase());
    await deployWithPrisma(theirs);
    expect(await readRecords(ours)).toEqual(await readRecords(theirs));
    expect(await readTable(ours)).toEqual(await readTable(theirs));
    expect(await readCatalog(ours)).toEqual(await readCatalog(theirs));
  });
});

/** What `prisma migrate deploy` does, by the engine that it runs. */
async function deployWithPrisma(url: string): Promise<readonly string[]> {
  const schema = await readFile(new URL('../schema.prisma', migrationsFolder), 'utf8');
  const pool = new Pool({ connectionString: url });
  const engine = await openSchemaEngine(schema, bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool)));
  try {
    const migrations = await readMigrations(migrationsFolder);
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: {
        baseDir: fileURLToPath(migrationsFolder),
        lockfile: {
          path: 'migration_lock.toml',
          content: await readFile(new URL('migration_lock.toml', migrationsFolder), 'utf8'),
        },
        shadowDbInitScript: '',
        migrationDirectories: migrations.map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
      filters: { externalTables: [], externalEnums: [] },
    });
    return appliedMigrationNames;
  } finally {
    engine.free();
    // The engine takes the lock that we take, too, and leaves it to the end of its process.
    await pool.end();
  }
}

async function readRecords(url: string) {
  const { rows } = await runSql(
    url,
    `SELECT migration_name, checksum, applied_steps_count, logs, rolled_back_at, length(id) AS id_length,
            finished_at >= started_at AS finished
     FROM _prisma_migrations ORDER BY started_at`,
  );
  return rows;
}

async function readTable(url: string) {
  const { rows } = await runSql(
    url,
    `SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull, pg_get_expr(adbin, adrelid) AS "default"
     FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE attrelid = '_prisma_migrations'::regclass AND attnum > 0 ORDER BY attnum`,
  );
  return rows;
}
