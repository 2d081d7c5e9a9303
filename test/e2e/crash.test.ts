import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatClient, openEvents, openTurn, textOf } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { turnEvents } from '../support/documents.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import * as script from '../support/script.js';
import { scriptedEnv } from '../support/scripted-env.js';
import { runServer, type ServerProcess, startServer } from '../support/server-process.js';

let provider: ScriptedProvider;
let database: TestDatabase;
beforeAll(async () => {
  provider = await startProvider();
  database = await createTestDatabase();
});
afterAll(async () => {
  await provider.close();
  await database.drop();
});

/** Streams half a reply, kills the server without warning, and gives what the client had seen. */
async function killInMidTurn(server: ServerProcess) {
  const client = chatClient(server.url);
  const id = await client.createSession();
  const first = await client.send(id, 'acknowledged', { clientMessageId: 'first' });
  provider.enqueue([script.text('half of the rep', { chunks: 4 }), script.silence()], script.reply('a whole reply'));
  const turn = openTurn(server.url, 'ws', id, 'and this one?', { clientMessageId: 'second' });
  let seen = '';
  const { turnId } = await turn.until((event) => {
    seen += event.delta ?? '';
    return seen === 'half of the rep';
  });
  // Reading the session stores what was streamed; without a reader that happens within a second.
  expect((await client.session(id)).history[3].content).toBe(seen);
  const lost = turn.rest().catch(() => 'the connection broke');
  await server.end('SIGKILL');
  await lost;
  return { id, first, turnId: turnId as string };
}

async function expectNothingLost(url: string, { id, first, turnId }: Awaited<ReturnType<typeof killInMidTurn>>) {
  const client = chatClient(url);
  const events = await openEvents(url, 'sse', turnEvents, { turnId }).rest();
  expect(textOf(events)).toBe('a whole reply');
  const session = await client.session(id);
  expect(session.history.map((m: { content: string; status: string }) => [m.content, m.status])).toEqual([
    ['acknowledged', 'COMPLETE'],
    ['echo: acknowledged', 'COMPLETE'],
    ['and this one?', 'COMPLETE'],
    ['a whole reply', 'COMPLETE'],
  ]);
  expect(session.turns.nodes[1]).toMatchObject({ status: 'COMPLETED', error: null });
  expect(session.activeTurn).toBeNull();
  // The call that was cut is paid for as well, by an estimate.
  expect(session.modelCalls.nodes).toMatchObject([
    { error: null },
    { usage: { estimated: true }, error: { code: 'INTERRUPTED' } },
    { error: null },
  ]);
  expect(session.totalTokens).toBe(
    session.modelCalls.nodes.reduce(
      (sum: number, call: { usage: { totalTokens: number } }) => sum + call.usage.totalTokens,
      0,
    ),
  );
  const requests = provider.requests.length;
  expect(await client.send(id, 'acknowledged', { clientMessageId: 'first' })).toMatchObject({
    content: first.content,
    turn: { id: first.turn.id },
  });
  expect(await client.send(id, 'and this one?', { clientMessageId: 'second' })).toMatchObject({
    content: 'a whole reply',
  });
  expect(provider.requests).toHaveLength(requests);
  expect((await client.send(id, 'go on')).content).toBe('echo: go on');
  expect(provider.violations).toEqual([]);
}

describe('kill -9 in the middle of a turn', () => {
  it('on the embedded Postgres loses nothing, and the next start goes on with it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'chatsession-crash-'));
    const env = { ...scriptedEnv(provider, database), DATABASE_URL: '', DATA_DIR: dataDir };
    let server = await startServer(env);
    try {
      const killed = await killInMidTurn(server);
      server = await startServer(env);
      await expectNothingLost(server.url, killed);
      expect(await server.end('SIGTERM')).toBe(0);
      server = await startServer(env);
      expect((await chatClient(server.url).session(killed.id)).turnCount).toBe(3);
    } finally {
      await server.end('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    }
  }, 60_000);

  it('on a shared Postgres another server goes on with it once its lease has run out', async () => {
    const env = { ...scriptedEnv(provider, database), TURN_LEASE_MS: '1000' };
    const killed = await killInMidTurn(await startServer(env));
    const server = await startServer(env);
    try {
      await expectNothingLost(server.url, killed);
    } finally {
      await server.end('SIGTERM');
    }
  });
});

describe('SIGTERM', () => {
  it('hands a running turn over at once, without a lease to wait for, and exits with 0', async () => {
    const env = { ...scriptedEnv(provider, database), TURN_LEASE_MS: '3600000' };
    const server = await startServer(env);
    const client = chatClient(server.url);
    const id = await client.createSession();
    provider.enqueue([script.text('begun'), script.silence()], script.reply('finished'));
    const turn = openTurn(server.url, 'ws', id, 'long');
    const { turnId } = await turn.until((event) => event.__typename === 'TextDelta');
    turn.leave();
    expect(await server.end('SIGTERM')).toBe(0);
    const next = await startServer(env);
    try {
      expect(textOf(await openEvents(next.url, 'sse', turnEvents, { turnId }).rest())).toBe('finished');
      const { history, modelCalls } = await chatClient(next.url).session(id);
      expect(history[1]).toMatchObject({ content: 'finished', status: 'COMPLETE' });
      expect(modelCalls.nodes).toHaveLength(2);
    } finally {
      await next.end('SIGTERM');
    }
  });
});

describe('broken settings', () => {
  it('stop the start with all problems named at once and no secret repeated', async () => {
    const { code, output } = await runServer({
      PORT: '99999',
      HOST: '0.0.0.0',
      MODELS: '{"m": {"contextWindow": 1000, "inputPrice": -1, "outputPrice": 1}}',
      DATABASE_URL: 'mysql://user:hunter2@db/x',
      AUTH_ISSUER: 'x',
    });
    expect(code).toBe(1);
    for (const name of ['PORT', 'MODELS', 'DATABASE_URL']) expect(output).toContain(name);
    expect(output).not.toContain('hunter2');
  });
});

describe('a port that another program uses', () => {
  it('is named, with what to do about it', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      const { code, output } = await runServer({ ...scriptedEnv(provider, database), PORT: String(port) });
      expect(code).toBe(1);
      expect(output).toContain(`port ${port} of 127.0.0.1 cannot be opened, since another program uses it`);
    } finally {
      other.close();
    }
  });
});
