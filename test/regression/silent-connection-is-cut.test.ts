import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openStream, type RawStream } from '../clients/sse.js';
import { type RawSocket, rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import * as documents from '../support/documents.js';
import * as script from '../support/script.js';

// Field report A63: keep-alive pings are missing, or are lost for good after one slow moment, so that proxies cut a
// subscription on which nothing happens to be said. The intervals are shortened here: 12 s between pings and 45 s of
// patience in production are 40 ms and 2 s, or a minute where a client is slow on purpose.
let app: TestApp;
let patient: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({}, { timing: { keepAlive: 40, peerSilence: 2_000 } });
  patient = await startTestApp({}, { timing: { keepAlive: 40, peerSilence: 60_000 } });
  client = chatClient(app.url);
});
afterAll(async () => {
  await app.close();
  await patient.close();
});

/** A connection that follows a turn, whatever it goes over. */
interface Follower {
  /** The next sign that the server is there. */
  nextPing(): Promise<void>;
  /** Text of the results so far and to the end of the turn. */
  textToTheEnd(): Promise<string>;
  pause(): void;
  resume(): void;
  readonly close: () => void;
}

const deltaOf = (result: { data?: Record<string, { delta?: string }> } | undefined) =>
  Object.values(result?.data ?? {})[0]?.delta ?? '';

async function overWebSocket(url: string, document: string, variables: Record<string, unknown>): Promise<Follower> {
  const socket: RawSocket = await rawSocket(`${url}/graphql`);
  await socket.init();
  socket.subscribe('1', document, variables);
  return {
    nextPing: () => socket.nextPing(),
    async textToTheEnd() {
      let text = '';
      for (let frame = await socket.receiveFor('1'); frame?.type === 'next'; frame = await socket.receiveFor('1')) {
        text += deltaOf(frame.payload);
      }
      return text;
    },
    pause: () => socket.socket.pause(),
    resume: () => socket.socket.resume(),
    close: () => socket.socket.terminate(),
  };
}

async function overSse(url: string, document: string, variables: Record<string, unknown>): Promise<Follower> {
  const stream: RawStream = await openStream(`${url}/graphql`, document, variables);
  return {
    nextPing: () => stream.nextComment(),
    async textToTheEnd() {
      const results = (await stream.rest()).filter(({ event }) => event === 'next');
      return results.map(({ data }) => deltaOf(JSON.parse(data))).join('');
    },
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close: () => stream.drop(),
  };
}

const transports = [
  ['WebSocket', overWebSocket],
  ['SSE', overSse],
] as const;

async function pings(follower: Follower, count: number) {
  for (let seen = 0; seen < count; seen += 1) await follower.nextPing();
}

describe.each(transports)('over %s, a subscription', (_name, follow) => {
  it('on which nothing is said is pinged all the time, and then goes on', async () => {
    const sessionId = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('at last')]);
    const follower = await follow(app.url, documents.stream, { input: { sessionId, message: 'think long' } });
    await gate.reached;
    // Longer than the time after which a client that says nothing counts as dead: pongs are enough of an answer.
    await pings(follower, 70);
    gate.open();
    expect(await follower.textToTheEnd()).toBe('at last');
    follower.close();
  }, 30_000);

  it('whose client stops reading for a while is pinged again afterwards, and misses nothing', async () => {
    // More than the buffers of both systems hold, so that the server is made to wait.
    const long = 'all that was thought while nobody read. '.repeat(300_000);
    const { createSession } = chatClient(patient.url);
    const sessionId = await createSession({ budget: { maxCostUsd: null, maxTokens: null } });
    const [begun, written, end] = [script.gate(), script.gate(), script.gate()];
    patient.provider.enqueue([
      [script.text('begun '), script.pause(begun)],
      [script.thinking(long, { chunks: 200 }), script.pause(written)],
      [script.pause(end), script.text('done'), script.finish('stop')],
    ]);
    const follower = await follow(patient.url, documents.stream, { input: { sessionId, message: 'write much' } });
    await begun.reached;
    patient.provider.enqueue([script.silence()]);
    const input = { sessionId: await createSession(), message: 'say nothing' };
    const clock = await follow(patient.url, documents.stream, { input });
    await follower.nextPing();
    follower.pause();
    begun.open();
    await written.reached;
    written.open();
    // The other connection is the clock: a slow moment of 20 intervals.
    await pings(clock, 20);
    follower.resume();
    await pings(follower, 20);
    end.open();
    expect(await follower.textToTheEnd()).toBe(`begun ${long}done`);
    follower.close();
    clock.close();
  }, 60_000);
});

describe('a WebSocket', () => {
  it('is pinged before, between and after its subscriptions', async () => {
    const socket = await rawSocket(`${app.url}/graphql`);
    await socket.init();
    await socket.nextPing();
    const sessionId = await client.createSession();
    for (const id of ['1', '2']) {
      socket.subscribe(id, documents.stream, { input: { sessionId, message: id } });
      for (let frame = await socket.receiveFor(id); frame?.type === 'next'; frame = await socket.receiveFor(id));
      for (let seen = 0; seen < 5; seen += 1) await socket.nextPing();
    }
    await socket.close();
  });

  it('whose client never answers a ping is dropped, and its turn goes on', async () => {
    const sessionId = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('for the record')]);
    const dead = new WebSocket(`${app.url.replace('http', 'ws')}/graphql`, ['graphql-transport-ws'], {
      autoPong: false,
    });
    await once(dead, 'open');
    dead.send(JSON.stringify({ type: 'connection_init' }));
    await once(dead, 'message');
    const payload = { query: documents.stream, variables: { input: { sessionId, message: 'anybody?' } } };
    dead.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
    await gate.reached;
    const [code] = await once(dead, 'close');
    expect(code).toBe(1013);
    const { activeTurn } = await client.session(sessionId);
    expect(activeTurn.status).toBe('RUNNING');
    gate.open();
    const follower = await overSse(app.url, documents.turnEvents, { turnId: activeTurn.id });
    expect(await follower.textToTheEnd()).toBe('for the record');
  });
});
