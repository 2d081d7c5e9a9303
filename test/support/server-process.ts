import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** The built server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to its first answer, in milliseconds. */
  readonly startedInMs: number;
  readonly output: readonly string[];
  /** Sends a signal and resolves with the exit code, null when the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts it and resolves once it is ready. Only `env` and what a process needs to run is in its environment. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const begun = performance.now();
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  const child = spawn(process.execPath, [entry], {
    env: { PATH, HOME, TMPDIR, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const url = await readUrl(child, output);
  const exited = once(child, 'exit') as Promise<[number | null]>;
  return {
    url,
    pid: child.pid ?? 0,
    startedInMs: performance.now() - begun,
    output,
    async end(signal) {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}

/** Resolves with the URL in the line that says the server is ready; rejects with all output when it ends before. */
function readUrl(child: ChildProcess, output: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const read = (stream: NodeJS.ReadableStream | null) => {
      if (!stream) return;
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line);
        const found = /"url":"(http:[^"]+)".*"ready/.exec(line);
        if (found?.[1]) resolve(found[1]);
      });
    };
    read(child.stdout);
    read(child.stderr);
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${output.join('\n')}`)));
  });
}

/** Runs it with settings that it must refuse; resolves with its exit code and output. */
export async function runServer(
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [entry], {
    env: { PATH, HOME, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (part) => {
    output += part;
  });
  child.stderr.on('data', (part) => {
    output += part;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
