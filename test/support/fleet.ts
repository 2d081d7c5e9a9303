import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ChatClient, chatClient } from './client.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { readToolLedger } from './ledger-tools.js';
import type { ClientOptions, FollowOptions } from './oracle/clients.js';
import { collectRun, untilAtRest } from './oracle/collect.js';
import { judge } from './oracle/judge.js';
import { createRecorder, type Recorder } from './oracle/recorder.js';
import type { Run } from './oracle/run.js';
import { type ScriptedProvider, startProvider } from './provider.js';
import { type Replica, type ReplicaOptions, startReplica } from './replica.js';

/** Several servers on one database and one provider, with everything that was done and seen kept for the oracle. */
export interface Fleet {
  readonly replicas: readonly [Replica, ...Replica[]];
  readonly provider: ScriptedProvider;
  readonly database: TestDatabase;
  readonly recorder: Recorder;
  /** Whom to ask next: each server that is up in turn. */
  readonly where: () => string;
  /** Of a server that is up. */
  readonly client: () => ChatClient;
  /** Starts what is down again, and disarms what is not. */
  mend(): Promise<void>;
  /** For clients that keep trying for `withinMs`. */
  options(withinMs?: number): ClientOptions;
  follower(name: string, transport: 'ws' | 'sse', withinMs?: number): FollowOptions;
  /** Waits until every turn is over and asks the oracle. */
  expectClean(): Promise<Run>;
  close(): Promise<void>;
}

export interface FleetOptions extends Partial<ReplicaOptions> {
  readonly count: number;
  /** Default: one of its own on the shared server. */
  readonly database?: TestDatabase;
}

export async function startFleet({ count, database: given, ...options }: FleetOptions): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'chatsession-fleet-'));
  const toolLedger = join(folder, 'tools');
  await writeFile(toolLedger, '');
  const provider = await startProvider();
  const database = given ?? (await createTestDatabase());
  const starting = Array.from({ length: count }, () => startReplica({ provider, database, toolLedger, ...options }));
  const recorder = createRecorder();
  const close = async () => {
    const started = await Promise.allSettled(starting);
    await Promise.all(started.map((one) => (one.status === 'fulfilled' ? one.value.kill() : null)));
    await provider.close();
    await database.drop();
    await rm(folder, { recursive: true });
  };
  const replicas = await Promise.all(starting).catch(async (error) => {
    await close();
    throw error;
  });
  let turn = 0;
  const where = () => {
    const up = replicas.filter(({ isRunning }) => isRunning);
    turn += 1;
    // While all are down the address of one of them does as well.
    return (up[turn % up.length] ?? (replicas[0] as Replica)).url;
  };
  const clientOptions = (withinMs = 60_000) => ({ recorder, where, signal: AbortSignal.timeout(withinMs) });
  return {
    replicas: replicas as unknown as Fleet['replicas'],
    provider,
    database,
    recorder,
    where,
    client: () => chatClient(where()),
    options: clientOptions,
    follower: (name, transport, withinMs) => ({ ...clientOptions(withinMs), name, transport }),
    async mend() {
      await Promise.all(replicas.map((one) => (one.isRunning ? one.arm('') : one.restart())));
    },
    async expectClean() {
      await untilAtRest(database);
      const run = await collectRun({ database, provider, recorder, url: where(), effects: readToolLedger(toolLedger) });
      expect(judge(run)).toEqual([]);
      expect(provider.violations).toEqual([]);
      const lines = replicas.flatMap((replica) => replica.lines);
      expect(lines.filter((line) => /uncaught exception|unhandled rejection/.test(line))).toEqual([]);
      return run;
    },
    close,
  };
}
