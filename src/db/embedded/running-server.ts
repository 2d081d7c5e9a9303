import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isCopy, runsOn } from './orphan.js';

const readLines = async (path: string) => (await readFile(path, 'utf8').catch(() => '')).split('\n');

/**
 * The URL of the embedded Postgres that a server has running on this folder, for somebody who looks in beside it. Null
 * when none runs there.
 */
export async function findRunningServer(dataDir: string): Promise<string | null> {
  const home = join(await realpath(dataDir).catch(() => dataDir), 'postgres');
  const data = join(home, 'data');
  const [[password = ''], lines] = await Promise.all([
    readLines(join(home, 'password')),
    readLines(join(data, 'postmaster.pid')),
  ]);
  const [pid = '', folder = '', , port = ''] = lines;
  if (password === '' || port === '') return null;
  // The file of a server that was killed stays, and comes along in a copy of its folder.
  if (!(await runs(Number(pid), folder)) || (await isCopy(data, folder))) return null;
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** Windows does not tell the command of a process. */
const runs = (pid: number, folder: string) => (process.platform === 'win32' ? isAlive(pid) : runsOn(pid, folder));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
