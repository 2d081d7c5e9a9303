import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The account that Postgres runs under; an empty one is our own. */
export interface ServerAccount {
  readonly uid?: number;
  readonly gid?: number;
}

const run = promisify(execFile);

/**
 * Postgres refuses to run as root. A server that was started as root runs it as `postgres` where that account exists,
 * and as `nobody` elsewhere, so that no account has to be added to the machine.
 */
export async function findServerAccount(): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // The account does not exist here; the next one may.
    }
  }
  throw new EmbeddedPostgresError(
    'The embedded Postgres cannot run as root and there is no account postgres or nobody: start the server as another user, or set DATABASE_URL.',
  );
}
