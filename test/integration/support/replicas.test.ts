import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chatClient, openTurn } from '../../support/client.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { runSql } from '../../support/database-server.js';
import { isAlive } from '../../support/process-state.js';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import type { ReplicaOptions } from '../../support/replica.js';
import { replicaBundle } from '../../support/replica-bundle.js';
import { useReplicas } from '../../support/replicas.js';

let provider: ScriptedProvider;
let database: TestDatabase;
let options: ReplicaOptions;
beforeAll(async () => {
  provider = await startProvider();
  database = await createTestDatabase();
  options = { provider, database };
  await replicaBundle();
}, 60_000);
afterAll(async () => {
  await provider.close();
  await database.drop();
});

const turns = async (sessionId: string) =>
  (
    await runSql<{ status: string; calls: number }>(
      database.url,
      `SELECT status, (SELECT count(*)::int FROM model_calls WHERE turn_id = turns.id) AS calls
       FROM turns WHERE session_id = '${Buffer.from(sessionId, 'base64').toString().split(':')[1]}' ORDER BY number`,
    )
  ).rows;

describe('replicas', { timeout: 60_000 }, () => {
  test('serve one database, each under an address that outlives it', async () => {
    const [a, b] = await useReplicas(2, options);
    if (!b) throw new Error('there is one only');
    const id = await chatClient(a.url).createSession();
    await chatClient(a.url).send(id, 'hello');
    expect((await chatClient(b.url).session(id)).turnCount).toBe(1);
    expect(await a.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(a.isRunning).toBe(false);
    await expect(chatClient(a.url).session(id)).rejects.toThrow();
    const { pid, url } = a;
    await a.restart();
    expect([a.url, a.pid !== pid]).toEqual([url, true]);
    expect((await chatClient(a.url).session(id)).turnCount).toBe(1);
    expect(a.lines.filter((line) => line.includes('"ready')).length).toBe(2);
    expect(await b.term()).toEqual({ code: 0, signal: null });
    // The end is known before the last line has been read.
    await b.log.waitFor('"stopped"');
  });

  test('can be paused and go on', async () => {
    const [replica] = await useReplicas(1, options);
    const client = chatClient(replica.url);
    await replica.pause();
    let answered = false;
    const answer = client.createSession().then(() => {
      answered = true;
    });
    // Another process answers meanwhile, so time passes.
    await runSql(database.url, 'SELECT pg_sleep(0.2)');
    expect(answered).toBe(false);
    replica.resume();
    await answer;
  });

  test('tell what they hold', async () => {
    const [replica] = await useReplicas(1, options);
    const { active, heapUsed } = await replica.resources();
    expect(active.TCPServerWrap ?? active.TCPSERVERWRAP).toBe(1);
    expect(heapUsed).toBeGreaterThan(1_000_000);
  });

  test('have a clock that goes wrong when a test wants it', async () => {
    const [replica] = await useReplicas(1, { ...options, clockSkewMs: 3_600_000 });
    const client = chatClient(replica.url);
    const id = await client.createSession();
    const [started] = await openTurn(replica.url, 'sse', id, 'what time is it?').rest();
    expect(Math.abs(Date.parse(started.at) - Date.now() - 3_600_000)).toBeLessThan(60_000);
  });

  test('end when the process that started them is killed', async () => {
    const script = fileURLToPath(new URL('../../support/orphaning-test.ts', import.meta.url));
    const parent = spawn(process.execPath, ['--import', 'tsx', script, database.url, provider.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const { value } = await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next();
    const pid = Number(value);
    expect(await isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
  });

  test('that cannot start say why', async () => {
    const nowhere = { ...options, env: { TURN_LEASE_MS: 'long' } };
    await expect(useReplicas(1, nowhere)).rejects.toThrow(/ended with 1.*TURN_LEASE_MS/s);
  });
});

describe('a failpoint', { timeout: 60_000 }, () => {
  test('kills the process at its place and nowhere else', async () => {
    const [replica] = await useReplicas(1, { ...options, failpoint: 'after-open-call' });
    const client = chatClient(replica.url);
    const id = await client.createSession();
    const requests = provider.requests.length;
    await expect(client.send(id, 'your last words?')).rejects.toThrow();
    expect(await replica.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await replica.log.waitFor('failpoint after-open-call reached');
    expect(await turns(id)).toMatchObject([{ status: 'RUNNING', calls: 1 }]);
    expect(provider.requests).toHaveLength(requests);
  });

  test('that is armed later counts from then, and can stop the process instead', async () => {
    const [replica] = await useReplicas(1, options);
    const client = chatClient(replica.url);
    const id = await client.createSession();
    await client.send(id, 'one');
    await replica.arm('after-accept:2:stop');
    await client.send(id, 'two');
    const third = client.send(id, 'three');
    await replica.stopped();
    expect(await turns(id)).toMatchObject([{ status: 'COMPLETED' }, { status: 'COMPLETED' }, { calls: 0 }]);
    replica.resume();
    expect((await third).content).toBe('echo: three');
  });

  test('that nobody knows is refused before it could be missed', async () => {
    const [replica] = await useReplicas(1, options);
    await expect(replica.arm('after-lunch')).rejects.toThrow('not a failpoint');
    await expect(useReplicas(1, { ...options, failpoint: 'after-lunch' })).rejects.toThrow(/not a failpoint/);
  });
});
