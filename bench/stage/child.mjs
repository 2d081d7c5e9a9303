import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

const longestStartMs = 30_000;

/**
 * Starts a Node process that can be asked questions over its IPC channel, and waits until its output says that it is
 * ready.
 *
 * @param args of node
 * @param env all that the process sees of the environment besides PATH and HOME
 * @param errorFile what the process writes to standard error
 */
export async function startChild(args, { env, errorFile, isReady }) {
  const errors = openSync(errorFile, 'w');
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, args, {
    env: { PATH, HOME, NODE_ENV: 'production', DO_NOT_TRACK: '1', CHECKPOINT_DISABLE: '1', ...env },
    stdio: ['ignore', 'pipe', errors, 'ipc'],
  });
  closeSync(errors);
  const ended = once(child, 'exit');
  const ready = new Promise((resolve) => {
    child.stdout.on('data', (data) => isReady(String(data)) && resolve('ready'));
  });
  const late = new Promise((resolve) => setTimeout(resolve, longestStartMs, 'late').unref());
  if ((await Promise.race([ready, ended, late])) !== 'ready') {
    child.kill('SIGKILL');
    throw new Error(`${args.at(-1)} did not start:\n${readFileSync(errorFile, 'utf8').slice(-2_000)}`);
  }
  return {
    pid: child.pid,
    ask: questionsTo(child),
    async kill() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await ended;
      }
    },
  };
}

/** Asks a child one thing; `answerQuestions` is the other end. */
function questionsTo(child) {
  const waiting = new Map();
  let asked = 0;
  child.on('message', ({ id, answer }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  return (question, options) =>
    new Promise((resolve, reject) => {
      asked += 1;
      waiting.set(asked, resolve);
      child.send({ id: asked, question, options }, (error) => error && reject(error));
    });
}
