import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** How a program of Postgres is started: under which account, and by which command if not directly. */
export interface ServerAccount {
  /** Ours when undefined. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  /** Stands before the program and its arguments. */
  readonly prefix: readonly string[];
}

const run = promisify(execFile);
const ourOwn: ServerAccount = { uid: undefined, gid: undefined, prefix: [] };

/**
 * Postgres refuses to run as root. A server that was started as root runs it under the account that the database in
 * `home` belongs to already; the first time as `postgres` where that account exists, and as `nobody` elsewhere, so that
 * no account has to be added to the machine.
 */
export async function findServerAccount(home: string): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return ourOwn;
  const owner = await stat(home).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, prefix: [] };
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout), prefix: [] };
    } catch {
      // The account does not exist here; the next one may.
    }
  }
  throw new EmbeddedPostgresError(
    'The embedded Postgres cannot run as root and there is no account postgres or nobody: start the server as another user, or set DATABASE_URL.',
  );
}

/**
 * Makes sure that the account gets to these files. The home of root is closed to everybody else, and a project that was
 * checked out there with it: then Postgres keeps the one privilege of root that opens folders, and nothing more.
 */
export async function giveAccess(account: ServerAccount, paths: readonly string[]): Promise<ServerAccount> {
  if (account.uid === undefined || (await reaches(account, paths))) return account;
  const privilege = '+dac_override';
  const wider: ServerAccount = {
    ...account,
    prefix: [
      'setpriv',
      `--reuid=${account.uid}`,
      `--regid=${account.gid}`,
      '--clear-groups',
      `--inh-caps=${privilege}`,
      `--ambient-caps=${privilege}`,
      // Else access(), by which Postgres looks for its own programs, leaves the privilege out.
      '--securebits=+no_setuid_fixup',
      '--',
    ],
  };
  if (await reaches(wider, paths)) return wider;
  throw new EmbeddedPostgresError(
    `The embedded Postgres cannot run as root, and the account that it uses instead cannot get to ${paths.join(' and ')}: move the project or set DATA_DIR to a folder that others can enter, or set DATABASE_URL.`,
  );
}

async function reaches(account: ServerAccount, paths: readonly string[]): Promise<boolean> {
  const tests = paths.map((path) => runAs(account, 'test', ['-x', path]));
  return Promise.all(tests).then(
    () => true,
    () => false,
  );
}

/** The arguments of `spawn` that start a program under the account. */
export function commandAs({ uid, gid, prefix }: ServerAccount, program: string, args: readonly string[]) {
  const [command = program, ...rest] = [...prefix, program, ...args];
  // A prefix changes the account itself, for which it has to start as root.
  const ids = prefix.length === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : {};
  return { command, args: rest, ids };
}

/** Runs a program under the account to its end. */
export function runAs(account: ServerAccount, program: string, args: readonly string[], env?: NodeJS.ProcessEnv) {
  const { command, args: rest, ids } = commandAs(account, program, args);
  return run(command, rest, { ...ids, ...(env ? { env } : {}) });
}
