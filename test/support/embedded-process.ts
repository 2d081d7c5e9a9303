import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface EmbeddedEvent {
  readonly url?: string;
  readonly startMs?: number;
  readonly stopped?: boolean;
  readonly stillServing?: boolean;
  readonly error?: string;
  readonly message?: string;
}

export interface EmbeddedProcess {
  readonly process: ChildProcess;
  /** The next event that it tells, or undefined once it has ended. */
  next(): Promise<EmbeddedEvent | undefined>;
  /** Its exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
}

/** Runs the embedded Postgres in a process of its own, which a test may kill. */
export function spawnEmbedded(dataDir: string, then?: 'exit' | 'crash'): EmbeddedProcess {
  const script = fileURLToPath(new URL('embedded-server.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir, ...(then ? [then] : [])], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, OPENAI_API_KEY: 'a-secret-of-ours' },
    // A group of its own, so that a test can send it what a terminal sends to a whole group.
    detached: true,
  });
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    exited,
    async next() {
      const { value, done } = await lines.next();
      return done ? undefined : (JSON.parse(value as string) as EmbeddedEvent);
    },
  };
}

/** The process of Postgres itself that was last started on the folder. */
export async function readPostmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}
