// npm run migration:new <name>
//
// Writes the next migration: the difference between the schema as of the last commit that touched prisma/migrations and
// prisma/schema.prisma as it is now. That commit is the state of the migrations, because a change of the schema and its
// migration are committed together; test/integration/db/schema-drift.test.ts fails when they part. The SQL is a draft:
// read it, and add by hand what Prisma cannot express (partial indexes, checks, full-text indexes).

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { diffSchemas } from './schema-engine.js';

const migrationsFolder = new URL('../prisma/migrations/', import.meta.url);
const schemaPath = 'prisma/schema.prisma';
const repository = new URL('..', import.meta.url);

const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' });

function schemaOfMigrations(): string | null {
  const commit = git('log', '-1', '--format=%H', '--', 'prisma/migrations').trim();
  return commit === '' ? null : git('show', `${commit}:${schemaPath}`);
}

const name = process.argv[2];
if (name === undefined || !/^[a-z0-9_]{1,100}$/.test(name)) {
  console.error(
    'Give the migration a name of lower-case letters, digits and underscores: npm run migration:new add_tags',
  );
  process.exit(1);
}
const sql = await diffSchemas(schemaOfMigrations(), await readFile(new URL(schemaPath, repository), 'utf8'));
if (sql.trim() === '' || sql.includes('This is an empty migration')) {
  console.error('schema.prisma is what the migrations already make: nothing to write.');
  process.exit(1);
}
const timestamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
const folder = new URL(`${timestamp}_${name}/`, migrationsFolder);
await mkdir(folder, { recursive: true });
await writeFile(new URL('migration.sql', folder), sql);
await writeFile(
  new URL('migration_lock.toml', migrationsFolder),
  '# Kept for `prisma migrate`, which checks that the migrations are for this kind of database.\nprovider = "postgresql"\n',
);
console.log(`Wrote prisma/migrations/${timestamp}_${name}/migration.sql. Read it and commit it with schema.prisma.`);
