import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { commandAs, type ServerAccount } from './account.js';
import { childEnvironment } from './child-environment.js';

export interface PostmasterOptions {
  readonly postgres: string;
  readonly account: ServerAccount;
  readonly dataFolder: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly log: Logger;
}

/** A running Postgres server process. */
export interface Postmaster {
  readonly process: ChildProcess;
  /** Resolves once the process and all of its children are gone. */
  readonly exited: Promise<void>;
}

/** The server process ended before it was ready; `output` is the end of what it said, for the log only. */
export class PostmasterStartError extends Error {
  override readonly name = 'PostmasterStartError';
  constructor(readonly output: readonly string[]) {
    super('Postgres ended before it was ready.');
  }
}

const keptLines = 20;

/**
 * Starts a Postgres server process on an initialised folder and resolves when it accepts connections. It is stopped at
 * the latest when this process exits.
 *
 * @throws PostmasterStartError when it ends before that.
 */
export function startPostmaster({
  postgres,
  account,
  dataFolder,
  port,
  settings,
  log,
}: PostmasterOptions): Promise<Postmaster> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { command, args, ids } = commandAs(account, postgres, ['-D', dataFolder, '-p', String(port), ...options]);
  const child = spawn(command, args, {
    ...ids,
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own: Ctrl-C in a terminal must reach our process only, which lets running turns finish first.
    detached: true,
  });
  const output: string[] = [];
  const exited = new Promise<void>((resolve) => {
    // The children hold the other end of the pipe, so it closes after the last of them.
    child.once('close', () => resolve());
    child.once('error', (error) => {
      output.push(error.message);
      resolve();
    });
  });
  const stopAtExit = () => child.kill('SIGINT');
  process.once('exit', stopAtExit);
  void exited.then(() => process.off('exit', stopAtExit));
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      output.push(line);
      if (output.length > keptLines) output.shift();
      writeLine(log, line);
      if (line.includes('database system is ready to accept connections')) resolve({ process: child, exited });
    });
    void exited.then(() => reject(new PostmasterStartError(output)));
  });
}

/** Ends all connections and waits for the process to be gone. A checkpoint is written, so the next start is quick. */
export async function stopPostmaster({ process: child, exited }: Postmaster): Promise<void> {
  child.kill('SIGINT');
  // For a disk that does not keep up: without a checkpoint, and then without asking. The next start recovers.
  const timers = [setTimeout(() => child.kill('SIGQUIT'), 10_000), setTimeout(() => child.kill('SIGKILL'), 15_000)];
  await exited;
  for (const timer of timers) clearTimeout(timer);
}

function writeLine(log: Logger, line: string): void {
  if (/\b(PANIC|FATAL|WARNING):|not properly shut down/.test(line))
    log.warn({ postgres: line }, 'Postgres reports a problem');
  else log.debug({ postgres: line }, 'Postgres says');
}
