import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { type ChatClient, chatClient, type EventStream, openEvents, openTurn, textOf } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import { type Replica, startReplica } from '../support/replica.js';
import { replicaBundle } from '../support/replica-bundle.js';
import * as script from '../support/script.js';
import { gapsIn } from '../support/told.js';

// One reader stops in the middle of a long reply, and all who read the same reply wait for it, or the server keeps for
// it what it does not read.
const chunkCount = 20_000;
const healthyOfEach = 10;
const stalledReaderMs = 5_000;
const keepAliveMs = 200;

const hello = 'Here it comes. ';
const chunks = Array.from({ length: chunkCount }, (_, at) => `${at} `.padEnd(20, 'abcdefghijklmnopqrstuvwxyz'));
const whole = hello + chunks.join('');

/** Without the whole text at the end, which is not what this is about. */
const follow = /* GraphQL */ `
  subscription Follow($turnId: ID!, $after: String) {
    turnEvents(turnId: $turnId, after: $after) {
      __typename
      ... on TurnEvent { sequence cursor }
      ... on TextDelta { delta }
    }
  }
`;
/**
 * Each piece twenty times over: the operating system keeps some 3 MB of a connection that is not read, and only what is
 * more than that waits in the server.
 */
const manyTimes = Array.from({ length: 20 }, (_, at) => `delta${at}: delta`).join(' ');
const followAndStop = follow.replace('Follow', 'FollowAndStop').replace('{ delta }', `{ delta ${manyTimes} }`);

let provider: ScriptedProvider;
let database: TestDatabase;
let server: Replica;
let client: ChatClient;
beforeAll(async () => {
  await replicaBundle();
  provider = await startProvider();
  database = await createTestDatabase();
  const env = { STALLED_READER_MS: String(stalledReaderMs), KEEP_ALIVE_MS: String(keepAliveMs) };
  server = await startReplica({ database, provider, env });
  client = chatClient(server.url);
}, 120_000);
afterAll(async () => {
  await server.kill();
  await provider.close();
  await database.drop();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

/** A client that does not read any more. */
interface StoppedReader {
  /** Reads what it was sent until the server has closed its connection: all of its events. */
  wakeUp(): Promise<Event[]>;
}

async function startTurn() {
  const begin = script.gate();
  const end = script.gate();
  provider.enqueue([
    script.text(hello),
    script.pause(begin),
    ...chunks.flatMap((content, at) => [script.delta({ content }), ...(at % 20 === 19 ? [script.wait(1)] : [])]),
    script.pause(end),
    script.finish('stop'),
    script.usage({ prompt: 3, completion: chunkCount }),
  ]);
  const sessionId = await client.createSession();
  const asked = openTurn(server.url, 'ws', sessionId, 'tell me all');
  const { turnId } = await asked.next();
  asked.leave();
  const readers = (['ws', 'sse'] as const).flatMap((transport) =>
    Array.from({ length: healthyOfEach }, () => openEvents(server.url, transport, follow, { turnId })),
  );
  for (const reader of readers) expect(await reader.next()).toMatchObject({ __typename: 'TurnStarted' });
  return { sessionId, turnId: turnId as string, readers, begin, end };
}

/** Everything up to the last piece of the text. */
async function readText(reader: EventStream): Promise<Event[]> {
  const events: Event[] = [await reader.until(({ __typename }) => __typename === 'TextDelta')];
  for (let { length } = events[0].delta; length < whole.length; length += events.at(-1).delta.length) {
    const event = await reader.next();
    expect(event?.__typename).toBe('TextDelta');
    events.push(event);
  }
  return events;
}

/** Lets the turn tell its text to the healthy readers, and says how long that took and what the server holds then. */
async function tell({ sessionId, readers, begin }: Awaited<ReturnType<typeof startTurn>>) {
  const startedAt = performance.now();
  begin.open();
  const seen = await Promise.all(readers.map(readText));
  const tookMs = performance.now() - startedAt;
  for (const events of seen) {
    expect(textOf(events) === whole).toBe(true);
    expect(gapsIn(events)).toEqual([]);
  }
  // Reading stores what was told, so that none of it is on its way to the database. What one collection frees of buffers
  // is taken away by the next one.
  await client.session(sessionId);
  for (let round = 0; round < 3; round += 1) await server.resources();
  const { heapUsed, buffers } = await server.resources();
  return { tookMs, bytes: heapUsed + buffers };
}

async function expectEnd({ readers, end }: Awaited<ReturnType<typeof startTurn>>) {
  end.open();
  for (const reader of readers) {
    const rest = await reader.rest();
    expect(rest.map(({ __typename }) => __typename)).toEqual(['StepCompleted', 'TurnCompleted']);
  }
}

/** Subscribes over a connection of its own, reads one event and then nothing more. */
async function stopReading(turnId: string): Promise<StoppedReader> {
  const socket = await rawSocket(`${server.url}/graphql`);
  await socket.init();
  socket.subscribe('1', followAndStop, { turnId });
  const first = (await socket.receiveFor('1'))?.payload.data.turnEvents;
  socket.socket.pause();
  return {
    async wakeUp() {
      socket.socket.resume();
      expect(await socket.closed).toEqual({ code: 1013, reason: 'Stopped reading' });
      const events = [first];
      for (let frame = await socket.receiveFor('1'); frame; frame = await socket.receiveFor('1')) {
        expect(frame.type).toBe('next');
        events.push(frame.payload.data.turnEvents);
      }
      return events;
    },
  };
}

/** The same over an event stream. */
async function stopStreaming(turnId: string): Promise<StoppedReader> {
  const stream = await openStream(`${server.url}/graphql`, followAndStop, { turnId });
  const first = (await stream.nextResult()).data.turnEvents;
  stream.pause();
  return {
    async wakeUp() {
      stream.resume();
      const rest = await stream.rest();
      expect(rest.every(({ event }) => event === 'next')).toBe(true);
      return [first, ...rest.map(({ data }) => JSON.parse(data).data.turnEvents)];
    },
  };
}

it('readers that stop cost the others no time and the server no memory, and can go on later', async () => {
  const before = await startTurn();
  const alone = await tell(before);
  await expectEnd(before);

  const turn = await startTurn();
  const { turnId } = turn;
  const stopped = [];
  for (const stop of [stopReading, stopStreaming]) stopped.push(await stop(turnId));
  const stoppedAt = performance.now();
  const beside = await tell(turn);
  expect(beside.tookMs).toBeLessThan(2 * alone.tookMs + 1_000);
  // What one of them does not read is more than 5 MB.
  expect(beside.bytes - alone.bytes).toBeLessThan(2_500_000);
  await expectEnd(turn);

  const toldAt = performance.now();
  for (const transport of ['ws', 'sse']) {
    await server.log.waitFor(`"transport":"${transport}","kind":"subscription","operation":"FollowAndStop"`);
  }
  expect(performance.now() - stoppedAt).toBeGreaterThan(stalledReaderMs);
  expect(performance.now() - toldAt).toBeLessThan(stalledReaderMs + 2 * keepAliveMs + 2_000);
  for (const reader of stopped) {
    const seen = await reader.wakeUp();
    expect(textOf(seen).length).toBeLessThan(whole.length);
    const { cursor: after } = seen.at(-1);
    for (const transport of ['ws', 'sse'] as const) {
      const all = [...seen, ...(await openEvents(server.url, transport, follow, { turnId, after }).rest())];
      expect(textOf(all) === whole).toBe(true);
      expect(gapsIn(all)).toEqual([]);
      expect(all.at(-1)).toMatchObject({ __typename: 'TurnCompleted' });
    }
  }
}, 60_000);
