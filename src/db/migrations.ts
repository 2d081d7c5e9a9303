import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** One folder of prisma/migrations. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file in hex, as Prisma records it. */
  readonly checksum: string;
}

/** Beside package.json, two folders up from here: in src as well as in dist. */
export const migrationsFolder = new URL('../../prisma/migrations/', import.meta.url);

/** The migrations of this build, oldest first. Line ends are made those of the repository, whatever a checkout did. */
export async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const file = await readFile(new URL(`${name}/migration.sql`, folder), 'utf8');
      const sql = file.replaceAll('\r\n', '\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
