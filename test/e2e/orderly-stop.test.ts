import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, type Result } from '../clients/results.js';
import { openStream } from '../clients/sse.js';
import { rawSocket, upgradeStatus } from '../clients/ws.js';
import { chatClient, openEvents, textOf } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runSql } from '../support/database-server.js';
import { send, sessionEvents, stream, turnEvents } from '../support/documents.js';
import { lastUserText, type ScriptedProvider, startProvider } from '../support/provider.js';
import type { Replica, ReplicaOptions } from '../support/replica.js';
import { replicaBundle } from '../support/replica-bundle.js';
import { useReplicas } from '../support/replicas.js';
import * as script from '../support/script.js';
import { isEnd } from '../support/told.js';

let provider: ScriptedProvider;
let database: TestDatabase;
beforeAll(async () => {
  await replicaBundle();
  provider = await startProvider();
  database = await createTestDatabase();
}, 120_000);
afterAll(async () => {
  await provider.close();
  await database.drop();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

async function useServer(graceMs: number, more: Partial<ReplicaOptions> = {}): Promise<Replica> {
  const env = { SHUTDOWN_GRACE_MS: String(graceMs), TURN_LEASE_MS: '3600000' };
  const [server] = await useReplicas(1, { provider, database, env, ...more });
  return server;
}

/** A turn whose provider says a word, and the rest when its gate opens. */
async function startTurn(url: string, message = 'go') {
  const gate = script.gate();
  const sessionId = await chatClient(url).createSession();
  provider.enqueue([script.text('begun, '), script.pause(gate), script.reply('and done')]);
  const socket = await rawSocket(`${url}/graphql`);
  await socket.init();
  socket.subscribe('1', stream, { input: { sessionId, message } });
  const seen: Event[] = [];
  while (textOf(seen) !== 'begun, ') seen.push((await socket.receiveFor('1'))?.payload.data.stream);
  return { sessionId, turnId: seen[0].turnId as string, gate, socket, seen };
}

const idOf = (globalId: string) => Buffer.from(globalId, 'base64').toString().split(':')[1];

const statesOf = async (sessionId: string) => {
  const sql = `SELECT status FROM turns WHERE session_id = '${idOf(sessionId)}' ORDER BY number`;
  return (await runSql<{ status: string }>(database.url, sql)).rows.map(({ status }) => status);
};

/** Status, headers and result of a POST over a connection that is kept. */
function post(url: string, agent: Agent, query: string, variables: object) {
  return new Promise<{ status: number; connection: string; reused: boolean; body: Result }>((resolve, reject) => {
    const outgoing = httpRequest(
      `${url}/graphql`,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', accept: 'application/json' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part) => {
          text += part;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            connection: String(response.headers.connection),
            reused: outgoing.reusedSocket,
            body: JSON.parse(text) as Result,
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ query, variables }));
  });
}

describe('SIGTERM while a turn runs', { timeout: 60_000 }, () => {
  it('takes nothing new, lets the turn finish, then ends sockets and streams for their clients to come back', async () => {
    const server = await useServer(30_000);
    const { url } = server;
    const { sessionId, turnId, gate, socket, seen } = await startTurn(url);
    const waiting = await rawSocket(`${url}/graphql`);
    await waiting.init();
    waiting.subscribe('1', stream, { input: { sessionId, message: 'later', whenBusy: 'ENQUEUE' } });
    await expect.poll(() => statesOf(sessionId)).toEqual(['RUNNING', 'QUEUED']);
    const idle = await rawSocket(`${url}/graphql`);
    await idle.init();
    const follower = await rawSocket(`${url}/graphql`);
    await follower.init();
    follower.subscribe('1', sessionEvents, { sessionId });
    const events = await openStream(`${url}/graphql`, sessionEvents, { sessionId });
    await Promise.all([follower.receiveFor('1'), events.nextResult()]);
    const agent = new Agent({ keepAlive: true });
    expect(await post(url, agent, '{ viewer { id } }', {})).toMatchObject({ status: 200, connection: 'keep-alive' });

    server.signal('SIGTERM');
    await server.log.waitFor('"reason":"SIGTERM"');
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping' }]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const refused = await post(url, agent, send, { input: { sessionId, message: 'too late' } });
    expect(refused).toMatchObject({ status: 503, connection: 'close', reused: true });
    expect(refused.body.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE', retryable: true } }]);
    expect(await upgradeStatus(`${url}/graphql`)).toBe(503);
    expect(await idle.closed).toEqual({ code: 1001, reason: 'Going away' });
    socket.subscribe('2', stream, { input: { sessionId, message: 'too late' } });
    const answer = await socket.receiveFor('2');
    expect([answer?.type, codesOf({ errors: answer?.payload })]).toEqual(['error', ['UNAVAILABLE']]);

    gate.open();
    for (let frame = await socket.receiveFor('1'); frame?.type === 'next'; frame = await socket.receiveFor('1')) {
      seen.push(frame.payload.data.stream);
    }
    expect(seen.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: 'begun, and done' } });
    expect(await socket.closed).toEqual({ code: 1001, reason: 'Going away' });
    const told: Event[] = [];
    for (let frame = await follower.receiveFor('1'); frame; frame = await follower.receiveFor('1')) {
      expect(frame.type).toBe('next');
      told.push(frame.payload.data.sessionEvents);
    }
    expect(told.filter(isEnd)).toMatchObject([{ __typename: 'TurnCompleted', turnId }]);
    expect(await follower.closed).toEqual({ code: 1001, reason: 'Going away' });
    const rest = await events.rest();
    expect(rest.every(({ event }) => event === 'next')).toBe(true);
    expect(JSON.parse(rest.at(-1)?.data ?? '{}').data.sessionEvents).toMatchObject({
      __typename: 'TurnCompleted',
      turnId,
    });
    expect(await waiting.receiveFor('1')).toBeNull();
    expect(await waiting.closed).toEqual({ code: 1001, reason: 'Going away' });
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(await statesOf(sessionId)).toEqual(['COMPLETED', 'QUEUED']);
    expect(server.log.all.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
  });

  it('hands the turn over when the time is up, before its followers are sent home, and answers who waits', async () => {
    const server = await useServer(500);
    const { url } = server;
    const { turnId, socket, sessionId } = await startTurn(url);
    const other = await chatClient(url).createSession();
    provider.enqueue([script.silence()]);
    const requests = provider.requests.length;
    const waiting = chatClient(url).trySend(other, 'tell me');
    await provider.request(requests);
    const whenClosed = socket.closed.then(() =>
      runSql<{ lease_owner: string }>(database.url, `SELECT lease_owner FROM turns WHERE id = '${idOf(turnId)}'`),
    );
    const begun = performance.now();
    expect(await server.term()).toEqual({ code: 0, signal: null });
    expect(performance.now() - begun).toBeGreaterThan(500);
    expect(performance.now() - begun).toBeLessThan(8_000);
    expect((await whenClosed).rows).toEqual([{ lease_owner: null }]);
    expect((await socket.closed).code).toBe(1001);
    for (let frame = await socket.receiveFor('1'); frame; frame = await socket.receiveFor('1')) {
      expect(isEnd(frame.payload?.data?.stream ?? {})).toBe(false);
    }
    const answer = await waiting;
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'UNAVAILABLE', retryable: true, turnId: expect.any(String) } },
    ]);

    provider.onRequest((request) =>
      ['go', 'tell me'].includes(lastUserText(request)) ? script.reply('after all') : undefined,
    );
    await server.restart();
    for (const id of [turnId, answer.errors?.[0]?.extensions?.turnId]) {
      expect(textOf(await openEvents(url, 'sse', turnEvents, { turnId: id }).rest())).toMatch(/after all$/);
    }
    expect((await chatClient(url).session(sessionId)).turns.nodes).toMatchObject([{ status: 'COMPLETED' }]);
  });

  it('has nothing to wait for without one', async () => {
    const server = await useServer(30_000);
    await chatClient(server.url).send(await chatClient(server.url).createSession(), 'hi');
    const begun = performance.now();
    expect(await server.term()).toEqual({ code: 0, signal: null });
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

describe('a second signal', { timeout: 60_000 }, () => {
  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGINT'],
  ] as const)('after %s ends the server within a second: %s', async (first, next) => {
    const server = await useServer(30_000);
    const { socket, gate } = await startTurn(server.url);
    server.signal(first);
    await server.log.waitFor('stopping');
    const begun = performance.now();
    // Ctrl-C under npm comes twice at once, which is not a wish for haste yet: an impatient user presses on.
    const pressing = setInterval(() => server.signal(next), 100);
    expect(await server.exited).toEqual({ code: null, signal: next });
    clearInterval(pressing);
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect((await socket.closed).code).toBe(1006);
    gate.open();
  });

  it('that is the echo of the first, as npm makes one of Ctrl-C, changes nothing', async () => {
    const server = await useServer(30_000);
    server.signal('SIGINT');
    server.signal('SIGINT');
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});
