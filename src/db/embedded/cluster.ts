import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  readonly root: string;
  readonly binaries: PostgresBinaries;
  readonly account: ServerAccount;
  readonly durable: boolean;
}

/**
 * Opens the cluster in `root`/postgres, and makes it at the first start. It is made in a folder beside it and then
 * renamed, password included: whenever the process dies, there is a whole cluster or none. Only for the holder of the
 * lock of `root`.
 */
export async function openCluster({ root, binaries, account, durable }: ClusterOptions): Promise<Cluster> {
  const home = join(root, 'postgres');
  await removeLeftovers(root);
  if ((await stat(home).catch(() => undefined)) === undefined) {
    const draft = join(root, `${draftPrefix}${randomBytes(6).toString('hex')}`);
    await initialise(draft, binaries, account, durable);
    await rename(draft, home);
  }
  const folder = join(home, 'data');
  const [password, version] = await Promise.all([
    readFile(join(home, 'password'), 'utf8').catch(() => ''),
    readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => ''),
  ]);
  if (password === '' || version === '') {
    throw new EmbeddedPostgresError(
      `The folder ${home} is not a whole database of this server: restore it from a backup, move it away, or set DATA_DIR to another folder.`,
    );
  }
  await checkVersion(home, version.trim(), binaries);
  return { folder, password: password.trim() };
}

/** The files of one major version are of no use to another. */
async function checkVersion(home: string, version: string, binaries: PostgresBinaries): Promise<void> {
  const { stdout } = await runAs({ uid: undefined, gid: undefined, prefix: [] }, binaries.postgres, ['--version']);
  const major = /\d+/.exec(stdout)?.[0];
  if (major === version) return;
  throw new EmbeddedPostgresError(
    `The data in ${home} was written by Postgres ${version}, and this build brings Postgres ${major}: move it over with pg_dump and a server of version ${version}, or set DATA_DIR to another folder.`,
  );
}

const draftPrefix = 'postgres.new-';

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
    throw new EmbeddedPostgresError(`The embedded Postgres could not make its database: ${lastLine(cause)}`, { cause });
  }
}

const lastLine = (error: unknown) =>
  String((error as { stderr?: string }).stderr || (error as Error).message)
    .trim()
    .split('\n')
    .at(-1);

/** What an interrupted first start has left; its initdb may even be running still, and fails without its folder. */
async function removeLeftovers(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(draftPrefix)) continue;
    await rm(join(root, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
