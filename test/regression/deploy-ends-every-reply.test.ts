import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatClient, type EventStream, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { turnEvents } from '../support/documents.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import type { Replica, ReplicaOptions } from '../support/replica.js';
import { replicaBundle } from '../support/replica-bundle.js';
import { useReplicas } from '../support/replicas.js';
import * as script from '../support/script.js';
import { isEnd, sinceLastStart } from '../support/told.js';

// Field report A16: a deploy ends every live reply, and the orderly signal loses more than a kill.
let provider: ScriptedProvider;
let database: TestDatabase;
let options: ReplicaOptions;
beforeAll(async () => {
  database = await createTestDatabase();
  await replicaBundle();
}, 120_000);
beforeEach(async () => {
  provider = await startProvider();
  // Shorter ones run out while a busy machine starts servers.
  options = { provider, database, env: { TURN_LEASE_MS: '4000' } };
});
afterEach(() => provider.close());
afterAll(() => database.drop());

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

const half = 'half of the rep';
const whole = 'the whole reply, after all';
const usage = script.usage({ prompt: 20, completion: 7 });

/** Reads into `seen` until the text is all there. */
const readText = (stream: EventStream, seen: Event[], text: string) =>
  stream.until((event) => {
    seen.push(event);
    return textOf(sinceLastStart(seen)) === text;
  });

/** Reads into `seen` until the connection is cut, or all is told. */
async function readToCut(stream: EventStream, seen: Event[]): Promise<void> {
  try {
    for (let event = await stream.next(); event !== null; event = await stream.next()) seen.push(event);
  } catch {
    // The stock clients make an error of a connection that ends while they follow something.
  }
}

/** A session with a settled turn, and one whose provider has said half of its reply and then nothing. */
async function startHalfTurn(url: string, transport: Transport) {
  const sessionId = await chatClient(url).createSession();
  await chatClient(url).send(sessionId, 'settled');
  provider.enqueue([script.text(half, { chunks: 3 }), script.silence()]);
  const stream = openTurn(url, transport, sessionId, 'and now?', { clientMessageId: 'mine' });
  const seen: Event[] = [];
  await readText(stream, seen, half);
  // Reading it stores what was streamed; without a reader that happens within a second.
  expect((await chatClient(url).session(sessionId)).history[3]).toMatchObject({ content: half, status: 'STREAMING' });
  const cut = readToCut(stream, seen);
  return { sessionId, seen, cut, turnId: seen[0].turnId as string };
}

const saysWhole = [script.text(whole, { chunks: 4 }), script.finish('stop'), usage];

const end = (server: Replica, signal: 'SIGTERM' | 'SIGKILL') => (signal === 'SIGTERM' ? server.term() : server.kill());

/** What was asked is there once, what was answered is there whole, and every call stands in the ledger. */
async function expectNothingLost(url: string, sessionId: string, turnId: string, lostCalls: number) {
  const client = chatClient(url);
  const session = await client.session(sessionId);
  expect(session.history.map((message: Event) => [message.role, message.content, message.status])).toEqual([
    ['USER', 'settled', 'COMPLETE'],
    ['ASSISTANT', 'echo: settled', 'COMPLETE'],
    ['USER', 'and now?', 'COMPLETE'],
    ['ASSISTANT', whole, 'COMPLETE'],
  ]);
  expect(session.turns.nodes[1]).toMatchObject({ id: turnId, status: 'COMPLETED', finishReason: 'STOP', error: null });
  expect(session).toMatchObject({ activeTurn: null, turnCount: 2, messageCount: 4 });
  const calls = session.modelCalls.nodes.slice(1);
  expect(calls).toHaveLength(lostCalls + 1);
  for (const { usage } of calls.slice(0, -1)) {
    expect(usage.estimated).toBe(true);
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
  }
  expect(calls.at(-1)).toMatchObject({ error: null, usage: { estimated: false, totalTokens: 27 } });
  const booked = session.modelCalls.nodes.reduce((sum: number, call: Event) => sum + call.usage.totalTokens, 0);
  expect(session.totalTokens).toBe(booked);

  const requests = provider.requests.length;
  expect(await client.send(sessionId, 'and now?', { clientMessageId: 'mine' })).toMatchObject({
    content: whole,
    turn: { id: turnId },
  });
  expect(provider.requests).toHaveLength(requests);
  expect((await client.send(sessionId, 'next')).content).toBe('echo: next');
  expect(provider.violations).toEqual([]);
}

describe.each([
  ['SIGTERM', { code: 0, signal: null }],
  ['SIGKILL', { code: null, signal: 'SIGKILL' }],
] as const)('%s in the middle of a reply', { timeout: 120_000 }, (signal, exit) => {
  it.each<Transport>(['ws', 'sse'])(
    'and a new start: the reply is written, and followed over %s',
    async (transport) => {
      const [server] = await useReplicas(1, options);
      const { sessionId, seen, cut, turnId } = await startHalfTurn(server.url, transport);
      expect(await end(server, signal)).toEqual(exit);
      // Nothing of the end of the process looks like an end of the turn.
      await cut;
      expect(seen.filter(isEnd)).toEqual([]);

      provider.enqueue(saysWhole);
      await server.restart();
      const after = seen.at(-1).cursor;
      const resumed = await openEvents(server.url, transport, turnEvents, { turnId, after }).rest();
      seen.push(...resumed);
      expect(textOf(sinceLastStart(seen))).toBe(whole);
      expect(seen.filter(isEnd)).toHaveLength(1);
      expect(seen.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: whole } });
      expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map(({ sequence }) => sequence).sort((a, b) => a - b));
      await expectNothingLost(server.url, sessionId, turnId, 1);
    },
  );

  it('with another server there: that one goes on, and its watchers notice no more than a new telling', async () => {
    const [server, other] = await useReplicas(2, options);
    if (!other) throw new Error('there is one only');
    const { sessionId, turnId } = await startHalfTurn(server.url, 'ws');
    const watchers = (['ws', 'sse'] as const).map((transport) => {
      const stream = openEvents(other.url, transport, turnEvents, { turnId });
      const seen: Event[] = [];
      return { stream, seen };
    });
    for (const { stream, seen } of watchers) await readText(stream, seen, half);
    provider.enqueue(saysWhole);
    await end(server, signal);
    for (const { stream, seen } of watchers) {
      seen.push(...(await stream.rest()));
      expect(seen.filter(({ __typename }) => __typename === 'TurnStarted')).toHaveLength(2);
      expect(textOf(sinceLastStart(seen))).toBe(whole);
      expect(seen.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: whole } });
    }
    await expectNothingLost(other.url, sessionId, turnId, 1);
  });
});

describe('an orderly deploy', { timeout: 120_000 }, () => {
  it('lets a reply end that can do so in time', async () => {
    const [server] = await useReplicas(1, { ...options, env: { SHUTDOWN_GRACE_MS: '20000' } });
    const sessionId = await chatClient(server.url).createSession();
    const gate = script.gate();
    const requests = provider.requests.length;
    provider.enqueue([script.text('almost '), script.pause(gate), script.text('done'), script.finish('stop'), usage]);
    const asked = openTurn(server.url, 'ws', sessionId, 'hurry');
    const { turnId } = await asked.next();
    const watched = openEvents(server.url, 'sse', turnEvents, { turnId });
    const watchers = [asked, watched].map((stream) => ({ stream, seen: [] as Event[] }));
    for (const { stream, seen } of watchers) await readText(stream, seen, 'almost ');
    const rests = watchers.map(({ stream, seen }) => readToCut(stream, seen));
    server.signal('SIGTERM');
    await server.log.waitFor('stopping');
    gate.open();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    await Promise.all(rests);
    await server.restart();
    for (const { seen } of watchers) {
      expect(textOf(seen)).toBe('almost done');
      // A server does not wait for long until everybody has heard the end; who has not asks its successor.
      const { cursor: after } = seen.at(-1);
      if (!isEnd(seen.at(-1))) seen.push(...(await openEvents(server.url, 'ws', turnEvents, { turnId, after }).rest()));
      expect(seen.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: 'almost done' } });
    }
    expect(provider.requests).toHaveLength(requests + 1);
  });

  it('costs a reply nothing of the patience with crashes: five in a row only delay it', {
    timeout: 120_000,
  }, async () => {
    const [server] = await useReplicas(1, options);
    const { sessionId, turnId } = await startHalfTurn(server.url, 'sse');
    for (let deploy = 0; deploy < 4; deploy += 1) {
      await server.term();
      provider.enqueue([script.text(half), script.silence()]);
      await server.restart();
      const seen: Event[] = [];
      const stream = openEvents(server.url, 'ws', turnEvents, { turnId });
      await readText(stream, seen, half);
      stream.leave();
    }
    await server.term();
    provider.enqueue(saysWhole);
    await server.restart();
    const told = await openEvents(server.url, 'ws', turnEvents, { turnId }).rest();
    expect(told.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: whole } });
    await expectNothingLost(server.url, sessionId, turnId, 5);
  });
});
