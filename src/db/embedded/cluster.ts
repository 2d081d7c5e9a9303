import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerAccount } from './account.js';
import type { PostgresBinaries } from './binaries.js';
import { childEnvironment } from './child-environment.js';

const run = promisify(execFile);

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
 * renamed, password included: whenever the process dies, there is a whole cluster or none.
 */
export async function openCluster({ root, binaries, account, durable }: ClusterOptions): Promise<Cluster> {
  const home = join(root, 'postgres');
  if ((await stat(home).catch(() => undefined)) === undefined) {
    await removeLeftovers(root);
    const draft = join(root, `postgres.new-${randomBytes(6).toString('hex')}`);
    await initialise(draft, binaries, account, durable);
    await rename(draft, home);
  }
  return { folder: join(home, 'data'), password: (await readFile(join(home, 'password'), 'utf8')).trim() };
}

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
  await run(binaries.initdb, durable ? options : [...options, '--no-sync'], { ...account, env: childEnvironment() });
}

/** What an interrupted first start has left. Only called by the holder of the folder's lock. */
async function removeLeftovers(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (name.startsWith('postgres.new-')) await rm(join(root, name), { recursive: true, force: true });
  }
}
