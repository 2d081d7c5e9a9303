import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const readLines = async (path: string) => (await readFile(path, 'utf8').catch(() => '')).split('\n');

/**
 * The URL of the embedded Postgres that a server has running on this folder, for somebody who looks in beside it. Null
 * when none runs there.
 */
export async function findRunningServer(dataDir: string): Promise<string | null> {
  const home = join(dataDir, 'postgres');
  const [[password = ''], lines] = await Promise.all([
    readLines(join(home, 'password')),
    readLines(join(home, 'data', 'postmaster.pid')),
  ]);
  const [pid = '', , , port = ''] = lines;
  if (password === '' || port === '' || !isAlive(Number(pid))) return null;
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
