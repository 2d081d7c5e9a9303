import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runAs, type ServerAccount } from './account.js';
import type { PostgresBinaries } from './binaries.js';
import { childEnvironment } from './child-environment.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The files of the database server, complete from the moment the folder exists. */
export interface Cluster {
  readonly folder: string;
  readonly password: string;
}

interface ClusterOptions {
  /** Where it is, or is made at the first start. */
  readonly home: string;
  readonly binaries: PostgresBinaries;
  readonly account: ServerAccount;
  readonly durable: boolean;
}

/**
 * Opens the cluster, and makes it at the first start. It is made in a folder beside it and then renamed, password
 * included: whenever the process dies, there is a whole cluster or none. Only for the holder of the folder's lock.
 */
export async function openCluster({ home, binaries, account, durable }: ClusterOptions): Promise<Cluster> {
  await removeLeftovers(home);
  if ((await stat(home).catch(() => undefined)) === undefined) {
    const draft = `${home}${draftSuffix}${randomBytes(6).toString('hex')}`;
    await initialise(draft, binaries, account, durable);
    await rename(draft, home);
  }
  const folder = join(home, 'data');
  const [password, version] = await Promise.all([
    readText(join(home, 'password')),
    readText(join(folder, 'PG_VERSION')),
  ]);
  if (password === '' || version === '') {
    throw new EmbeddedPostgresError(
      `The folder ${home} is not a whole database of this server: restore it from a backup, move it away, or set DATA_DIR to another folder.`,
    );
  }
  // The files of one major version are of no use to another.
  if (version !== binaries.version) {
    throw new EmbeddedPostgresError(
      `The data in ${home} was written by Postgres ${version}, and this build brings Postgres ${binaries.version}: move it over with pg_dump and a server of version ${version}, or set DATA_DIR to another folder.`,
    );
  }
  return { folder, password };
}

/** Empty when there is no such file. */
async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new EmbeddedPostgresError(
      `The database file ${path} cannot be read by this server: start it with the account that made it, or set DATA_DIR to another folder.`,
      { cause },
    );
  }
}

const draftSuffix = '.new-';

async function initialise(folder: string, binaries: PostgresBinaries, account: ServerAccount, durable: boolean) {
  const passwordFile = join(folder, 'password');
  await mkdir(folder, { mode: 0o700 });
  await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  if (account.uid !== undefined && account.gid !== undefined) {
    await chown(passwordFile, account.uid, account.gid);
    await chown(folder, account.uid, account.gid);
  }
  const options = [
    `--pgdata=${join(folder, 'data')}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Built into Postgres itself, so sorting and letter case are the same on every system and never change under an index.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
  try {
    await runAs(account, binaries.initdb, durable ? options : [...options, '--no-sync'], childEnvironment());
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new EmbeddedPostgresError(`The embedded Postgres could not make its database: ${reasonOf(cause)}`, { cause });
  }
}

/** Out of what initdb wrote, the line that says why; after it come lines about the clearing up. */
function reasonOf(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string };
  return stderr.split('\n').find((line) => /(error|FATAL|PANIC):/.test(line)) ?? message;
}

/** What an interrupted first start has left; its initdb may even be running still, and fails without its folder. */
async function removeLeftovers(home: string): Promise<void> {
  const folder = dirname(home);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${basename(home)}${draftSuffix}`)) continue;
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
