import { execFile } from 'node:child_process';
import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** Fast shutdown with a checkpoint, then an end without one, after which the next start recovers. */
const escalation = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
] as const;
const pollMs = 20;

/**
 * When our process is killed, its Postgres runs on. Stops such a one, so that the next start has the folder to itself.
 * Only for the holder of the folder's lock: what runs then belongs to nobody.
 *
 * @throws EmbeddedPostgresError when it does not end.
 */
export async function stopOrphan(dataFolder: string, log: Logger): Promise<void> {
  // Windows does not tell the command of a process. There Postgres refuses to start beside one that still runs.
  if (process.platform === 'win32') return;
  const pidFile = join(dataFolder, 'postmaster.pid');
  const [pidLine = '', recordedFolder = ''] = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
  const pid = Number(pidLine);
  if (!Number.isInteger(pid) || pid <= 1) return;
  // Postgres itself clears away the file of a process that is gone, but it stands in awe of a number in use.
  if (!(await runsOn(pid, recordedFolder)) || (await isCopy(dataFolder, recordedFolder))) {
    await rm(pidFile, { force: true });
    return;
  }
  log.warn({ pid }, 'Stopping the Postgres that a killed server has left behind');
  for (const [signal, waitMs] of escalation) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw stillRuns(pid, error);
    }
    const deadline = performance.now() + waitMs;
    while (performance.now() < deadline) {
      if (!(await runsOn(pid, recordedFolder))) return;
      await delay(pollMs);
    }
  }
  throw stillRuns(pid);
}

const stillRuns = (pid: number, cause?: unknown) =>
  new EmbeddedPostgresError(
    `A Postgres that a killed server has left behind still runs and cannot be stopped (pid ${pid}): end it, and start again.`,
    { cause },
  );

/** Whether a folder was copied from one that is in use, lock file and all. */
export async function isCopy(dataFolder: string, recordedFolder: string): Promise<boolean> {
  if (dataFolder === recordedFolder) return false;
  return access(join(recordedFolder, 'postmaster.pid')).then(
    () => true,
    () => false,
  );
}

/** Whether that process is a Postgres server that was started on that folder. Numbers of processes are used again. */
export async function runsOn(pid: number, folder: string): Promise<boolean> {
  const command = await readCommand(pid);
  return /\bpostgres$/.test(command[0] ?? '') && command.includes(folder);
}

/** The command line of a process, or nothing when it is gone; also of one that is dead but not yet collected. */
async function readCommand(pid: number): Promise<readonly string[]> {
  if (process.platform === 'linux') {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  }
  const args = await promisify(execFile)('ps', ['-ww', '-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  const [program = '', rest = ''] = args.stdout.trim().split(/ -D (.*)/s);
  return [program, rest.split(/ -p \d+/)[0] ?? ''];
}
