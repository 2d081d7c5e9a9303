import { readFailpoints } from './armed-failpoints.js';
import { freePort } from './free-port.js';
import type { Lines } from './lines.js';
import { untilStopped } from './process-state.js';
import { type Exit, startReplicaLife } from './replica-life.js';
import type { ReplicaResources } from './replica-messages.js';
import { scriptedEnv } from './scripted-env.js';

export interface ReplicaOptions {
  readonly database: { readonly url: string };
  readonly provider: { readonly url: string };
  readonly redisUrl?: string;
  /** Further settings of the server. */
  readonly env?: Readonly<Record<string, string>>;
  /** Armed from the start, as in readFailpoints; see `arm` for later. */
  readonly failpoint?: string;
  /** Tokens a second of the demo model. */
  readonly demoPace?: number;
  /** How far its clock is ahead. */
  readonly clockSkewMs?: number;
  /** File of the tools that it is to have; see ledgerTools. */
  readonly toolLedger?: string;
}

/** A server in a process of its own, under one address for all its lives. */
export interface Replica {
  /** Without a path: the endpoint is `${url}/graphql`. */
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to its first answer, in milliseconds. */
  readonly startedInMs: number;
  /** What its present life has logged. */
  readonly log: Lines;
  /** What it has logged in all its lives. */
  readonly lines: readonly string[];
  /** How its present life ends. */
  readonly exited: Promise<Exit>;
  readonly isRunning: boolean;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<Exit>;
  /** SIGTERM; resolves when it has ended by itself. */
  term(): Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
  /** SIGSTOP; resolves when nothing of it runs any more. */
  pause(): Promise<void>;
  /** Resolves when nothing of it runs any more because a failpoint has stopped it. */
  stopped(): Promise<void>;
  resume(): void;
  /** Arms failpoints from now on, in place of those that are armed; see readFailpoints. */
  arm(failpoints: string): Promise<void>;
  resources(): Promise<ReplicaResources>;
  /**
   * Starts it again under the same address, with other options if they are given. Kills it first if it runs. A failpoint of
   * its earlier lives is not armed again.
   */
  restart(options?: Partial<ReplicaOptions>): Promise<void>;
}

function environment(options: ReplicaOptions, port: number): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  const { redisUrl, failpoint, demoPace, clockSkewMs, toolLedger } = options;
  return {
    PATH,
    HOME,
    TMPDIR,
    ...scriptedEnv(options.provider, options.database),
    PORT: String(port),
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    ...(failpoint !== undefined && { FAILPOINT: failpoint }),
    ...(demoPace !== undefined && { DEMO_PACE: String(demoPace) }),
    ...(clockSkewMs !== undefined && { CLOCK_SKEW_MS: String(clockSkewMs) }),
    ...(toolLedger !== undefined && { TOOL_LEDGER: toolLedger }),
    ...options.env,
  };
}

/** Starts a server on a port of its own. Whoever calls it ends it; see useReplicas. */
export async function startReplica(given: ReplicaOptions): Promise<Replica> {
  const port = await freePort();
  let options = given;
  let life = await startReplicaLife(environment(options, port));
  const earlier: string[] = [];
  const signal = (name: NodeJS.Signals) => {
    life.child.kill(name);
  };
  const end = (name: NodeJS.Signals) => {
    signal(name);
    return life.exited;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    get pid() {
      return life.child.pid ?? 0;
    },
    get startedInMs() {
      return life.startedInMs;
    },
    get log() {
      return life.log;
    },
    get lines() {
      return [...earlier, ...life.log.all];
    },
    get exited() {
      return life.exited;
    },
    get isRunning() {
      return !life.isOver();
    },
    signal,
    kill: () => end('SIGKILL'),
    term: () => end('SIGTERM'),
    async pause() {
      signal('SIGSTOP');
      await untilStopped(life.child.pid ?? 0);
    },
    stopped: () => untilStopped(life.child.pid ?? 0),
    resume: () => signal('SIGCONT'),
    async arm(failpoints) {
      readFailpoints(failpoints);
      await life.ask({ ask: 'arm', failpoints });
    },
    async resources() {
      const { resources } = await life.ask({ ask: 'resources' });
      if (!resources) throw new Error('a replica did not say what it holds');
      return resources;
    },
    async restart(change = {}) {
      await end('SIGKILL');
      earlier.push(...life.log.all);
      options = { ...options, failpoint: '', ...change };
      life = await startReplicaLife(environment(options, port));
    },
  };
}
