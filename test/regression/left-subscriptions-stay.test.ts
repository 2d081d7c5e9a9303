import { queryObjects } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TurnFollower } from '../../src/chat/turns/turn-follower.js';
import { LogCursor } from '../../src/events/log-cursor.js';
import { codesOf, type Result } from '../clients/results.js';
import { openStream, type RawStream } from '../clients/sse.js';
import { type RawSocket, rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';

// Field report A66: the sources of subscriptions are not closed when their clients leave, as long as nothing happens.
// There are places for 100 subscriptions here, so one that stays is noticed by who comes after it; and what a
// subscription is made of inside the server must be garbage once it was left.
const places = 100;
const patience = { interval: 5, timeout: 20_000 };
/** The turn is silent for longer than a provider may usually be, and looking through the memory stops the process. */
const env = { MODEL_IDLE_TIMEOUT_MS: '600000', TURN_LEASE_MS: '600000' };
let app: TestApp;
let second: SecondApp;
let client: ChatClient;
let turnId: string;
let silence: script.Gate;
beforeAll(async () => {
  app = await startTestApp(env, { limits: { streams: places } });
  second = await startSecondApp(app, env, { limits: { streams: places } });
  client = chatClient(app.url);
  const sessionId = await client.createSession();
  silence = script.gate();
  app.provider.enqueue([script.text('before and '), script.pause(silence), script.reply('after a long silence')]);
  const turn = openTurn(app.url, 'ws', sessionId, 'say little');
  turnId = (await turn.until(({ __typename }) => __typename === 'TextDelta')).turnId;
  turn.leave();
  // Reading stores what was said, so that the other server can tell it.
  await client.session(sessionId);
});
afterAll(async () => {
  await second.close();
  await app.close();
});

/** Subscriptions that are open, with the one way to leave them that is tested. */
type Opened = { readonly leave: () => Promise<unknown> };
type Open = (url: string, count: number) => Promise<Opened>;

const started = (result: Result | undefined) =>
  expect(result?.data?.turnEvents?.__typename ?? JSON.stringify(result)).toBe('TurnStarted');

const openSocket =
  (leave: (socket: RawSocket, ids: readonly string[]) => Promise<unknown>): Open =>
  async (url, count) => {
    const socket = await rawSocket(`${url}/graphql`);
    await socket.init();
    const ids = Array.from({ length: count }, (_, at) => `s${at}`);
    for (const id of ids) socket.subscribe(id, turnEvents, { turnId });
    for (const id of ids) started((await socket.receiveFor(id))?.payload);
    return { leave: () => leave(socket, ids) };
  };

const openSockets =
  (each: number, open: Open): Open =>
  async (url, count) => {
    const all = await Promise.all(Array.from({ length: count / each }, () => open(url, each)));
    return { leave: () => Promise.all(all.map(({ leave }) => leave())) };
  };

const openStreams: Open = async (url, count) => {
  const open = async (): Promise<RawStream> => {
    const stream = await openStream(`${url}/graphql`, turnEvents, { turnId });
    started(await stream.nextResult());
    return stream;
  };
  const streams = await Promise.all(Array.from({ length: count }, open));
  return {
    async leave() {
      for (const stream of streams) stream.drop();
      await Promise.all(streams.map(({ ended }) => ended));
    },
  };
};

const complete = openSocket(async (socket, ids) => {
  for (const id of ids) socket.complete(id);
  // An operation that is answered after them shows that they were read.
  socket.subscribe('last', '{ viewer { id } }');
  await socket.receiveFor('last');
  socket.socket.terminate();
});
const close = openSocket((socket) => socket.close());
const terminate = openSocket(async (socket) => socket.socket.terminate());

const ways: readonly [string, Open][] = [
  ['unsubscribes on a socket that stays', complete],
  ['closes its socket', openSockets(20, close)],
  ['drops its socket', openSockets(20, terminate)],
  ['drops its event stream', openStreams],
];

/** Tries one more subscription, on a socket that stays, and leaves it again. */
interface Probe {
  /** Its first event, or the code of its refusal while all places are taken. */
  tryOne(): Promise<string>;
  close(): Promise<void>;
}

async function openProbe(url: string): Promise<Probe> {
  const socket = await rawSocket(`${url}/graphql`);
  await socket.init();
  let tries = 0;
  return {
    async tryOne() {
      tries += 1;
      socket.subscribe(`${tries}`, turnEvents, { turnId });
      const frame = await socket.receiveFor(`${tries}`);
      socket.complete(`${tries}`);
      // An operation that is answered afterwards shows that the server has read of the leaving.
      socket.subscribe(`${tries} left`, '{ viewer { id } }');
      await socket.receiveFor(`${tries} left`);
      const result: Result = frame?.type === 'error' ? { errors: frame.payload } : (frame?.payload ?? {});
      return codesOf(result)[0] ?? result.data.turnEvents.__typename;
    },
    close: () => socket.close(),
  };
}

describe('while its turn says nothing, a client that', () => {
  const cases = ways.flatMap(([way, open]) => [
    [way, 'the server that runs the turn', open, () => app.url] as const,
    [way, 'another server', open, () => second.url] as const,
  ]);
  it.each(cases)(
    '%s leaves no subscription behind on %s',
    async (_way, _server, open, url) => {
      const probe = await openProbe(url());
      // Two rounds of 100 in each of eight ways: each needs every place that the one before it had.
      for (let round = 0; round < 2; round += 1) {
        await expect.poll(probe.tryOne, patience).toBe('TurnStarted');
        const { leave } = await open(url(), places);
        expect(await probe.tryOne()).toBe('RATE_LIMITED');
        await leave();
      }
      await expect.poll(probe.tryOne, patience).toBe('TurnStarted');
      await probe.close();
    },
    30_000,
  );

  it('leaves nothing of itself in memory', async () => {
    // The turn was followed 1600 times; its log and whatever follows it would show here.
    const inMemory = () =>
      Number(queryObjects(LogCursor, { format: 'count' })) + Number(queryObjects(TurnFollower, { format: 'count' }));
    await expect.poll(inMemory, patience).toBe(0);
  }, 60_000);

  it('comes back finds the turn as it was, and gets its end once', async () => {
    const followers = [app.url, second.url].map((url) => openEvents(url, 'ws', turnEvents, { turnId }));
    for (const follower of followers) {
      expect((await follower.next()).__typename).toBe('TurnStarted');
      expect((await follower.next()).__typename).toBe('ContextReported');
      expect((await follower.next()).delta).toBe('before and ');
    }
    silence.open();
    for (const follower of followers) {
      const rest = await follower.rest();
      expect(rest.map(({ __typename }) => __typename)).toEqual(['TextDelta', 'StepCompleted', 'TurnCompleted']);
    }
  });
});
