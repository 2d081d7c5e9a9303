import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Deferred, deferred } from './deferred.js';
import { collectStreamLines, type Lines } from './lines.js';
import { replicaBundle } from './replica-bundle.js';
import type { ReplicaAnswer, ReplicaQuestion } from './replica-messages.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One process of a replica, from its start to its end. */
export interface ReplicaLife {
  readonly child: ChildProcess;
  readonly log: Lines;
  /** Resolves after its last line. */
  readonly exited: Promise<Exit>;
  readonly isOver: () => boolean;
  readonly startedInMs: number;
  ask(question: ReplicaQuestion): Promise<ReplicaAnswer>;
}

const running = new Set<ChildProcess>();
// Whatever becomes of the tests, their servers end with them. Those that run also notice it by themselves.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts the process and resolves once it answers requests. Only `env` is in its environment. */
export async function startReplicaLife(env: Readonly<Record<string, string>>): Promise<ReplicaLife> {
  const entry = await replicaBundle();
  const begun = performance.now();
  const child = spawn(process.execPath, ['--expose-gc', entry], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  running.add(child);
  const log = collectStreamLines(child.stdout, child.stderr);
  const questions = new Map<number, Deferred<ReplicaAnswer>>();
  let isOver = false;
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    isOver = true;
    running.delete(child);
    const why = `the replica ended with ${code ?? signal}`;
    log.end(why);
    for (const question of questions.values()) question.reject(new Error(why));
    return { code, signal };
  });
  child.on('message', (answer: ReplicaAnswer) => {
    questions.get(answer.id)?.resolve(answer);
    questions.delete(answer.id);
  });
  await log.waitFor('"ready');
  let asked = 0;
  return {
    child,
    log,
    exited,
    isOver: () => isOver,
    startedInMs: performance.now() - begun,
    ask(question) {
      const answer = deferred<ReplicaAnswer>();
      asked += 1;
      questions.set(asked, answer);
      child.send({ ...question, id: asked });
      return answer.promise;
    },
  };
}
