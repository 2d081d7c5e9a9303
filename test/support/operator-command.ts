import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../../dist/operator/main.js', import.meta.url));

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  const child = spawn(program, args, { env: { PATH, HOME, TMPDIR, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

/** The built operator command in a process of its own. Only `env` and what a process needs is in its environment. */
export const runOperator = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  run(process.execPath, [entry, ...args], env);

/** The same, read by another program, as in a shell. The code is that of whichever of the two failed. */
export const pipeOperator = (env: Readonly<Record<string, string>>, args: string, reader: string) =>
  run('bash', ['-c', `set -o pipefail; "${process.execPath}" "${entry}" ${args} | ${reader}`], env);

/** The lines that it prints; it must do so without a complaint. */
export async function operatorLines(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<string[]> {
  const { code, stdout, stderr } = await runOperator(env, ...args);
  if (code !== 0 || stderr !== '') throw new Error(`${args.join(' ')} ended with ${code}:\n${stderr}`);
  return stdout.split('\n').slice(0, -1);
}
