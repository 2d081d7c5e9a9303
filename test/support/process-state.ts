import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The letter with which ps tells the state of a process: T is stopped, Z has ended and was not collected yet. */
async function processState(pid: number): Promise<string> {
  const state =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/stat`, 'utf8').then((stat) => stat.slice(stat.lastIndexOf(')') + 2))
      : run('ps', ['-o', 'state=', '-p', String(pid)]).then(({ stdout }) => stdout.trim());
  return (await state.catch(() => 'Z')).charAt(0);
}

/** False also for a process that has ended and was not collected by its parent yet. */
export async function isAlive(pid: number): Promise<boolean> {
  return (await processState(pid)) !== 'Z';
}

/**
 * Resolves once a process no longer runs because of SIGSTOP: the signal does its work some time after it was sent.
 *
 * @throws Error when the process has ended instead.
 */
export async function untilStopped(pid: number): Promise<void> {
  for (;;) {
    const state = await processState(pid);
    if (state === 'T') return;
    if (state === 'Z') throw new Error(`process ${pid} has ended and was to be stopped`);
    await sleep(2);
  }
}
