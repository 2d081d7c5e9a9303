import { execFile } from 'node:child_process';
import { chmod, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** The major version, as it stands in the PG_VERSION of its data. */
  readonly version: string;
}

/**
 * Finds the Postgres server of this platform in the packages that `embedded-postgres` brings.
 *
 * Only its binaries are used. Its class installs handlers for SIGINT and SIGTERM on import that end the process under
 * running turns, hands the whole environment with its secrets to Postgres, and cannot cope with a server that died.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const platformPackage = `@embedded-postgres/${os}-${process.arch}`;
  let entry: string;
  try {
    // Resolved from `embedded-postgres`, whose optional dependency it is: not every package manager hoists it.
    const library = createRequire(import.meta.url).resolve('embedded-postgres');
    entry = createRequire(library).resolve(platformPackage);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The package ${platformPackage} with the embedded Postgres is not installed: run npm install with optional dependencies, or set DATABASE_URL to a Postgres of your own.`,
      { cause },
    );
  }
  const { postgres, initdb } = (await import(pathToFileURL(entry).href)) as { postgres: string; initdb: string };
  await restoreLinks(join(dirname(entry), '..'), platformPackage);
  await Promise.all([makeExecutable(postgres), makeExecutable(initdb)]);
  return { postgres, initdb, version: await readVersion(postgres) };
}

async function readVersion(postgres: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(postgres, ['--version']);
    return /\d+/.exec(stdout)?.[0] ?? '';
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'The embedded Postgres does not run on this system: set DATABASE_URL to a Postgres of your own.',
      { cause },
    );
  }
}

/** Packages cannot hold links. An install script makes those of the shared libraries, and many installations run none. */
async function restoreLinks(packageFolder: string, packageName: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(packageFolder, target);
    try {
      await symlink(relative(dirname(link), join(packageFolder, source)), link);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue;
      if (await stat(link).catch(() => undefined)) continue;
      throw new EmbeddedPostgresError(
        `The embedded Postgres is not fully installed and ${packageFolder} is not writable: run npm rebuild ${packageName} with an account that may write there.`,
        { cause },
      );
    }
  }
}

async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) !== 0o555) await chmod(path, mode | 0o555);
}
