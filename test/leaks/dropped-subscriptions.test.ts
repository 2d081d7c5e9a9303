import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, openTurn } from '../support/client.js';
import { sessionEvents } from '../support/documents.js';
import { bytesInUse, settledObjects } from '../support/memory.js';

// Field report A66: a thousand subscriptions of an idle session are opened and dropped, in each way that there is. Nothing
// ever happens in the session, so nothing but the leaving itself can clean up: listeners, timers and memory are back to
// where they were.
const many = 1_000;
const atATime = 200;
const perConnection = 10;
const patience = { interval: 50, timeout: 60_000 };

let app: TestApp;
let variables: { readonly sessionId: string; readonly after: string };
beforeAll(async () => {
  app = await startTestApp();
  const sessionId = await chatClient(app.url).createSession();
  const events = await openTurn(app.url, 'ws', sessionId, 'hello').rest();
  // One event is to come, by which a test sees that its subscription is there; behind it the session is idle.
  variables = { sessionId, after: events.at(-2).cursor };
});
afterAll(() => app.close());

const last = { data: { sessionEvents: { __typename: 'TurnCompleted' } } };
const ids = Array.from({ length: perConnection }, (_, at) => `${at}`);
const linesOfLeft = () => app.logLines.filter((line) => line.includes('"left":true')).length;

async function openSocket() {
  const socket = await rawSocket(`${app.url}/graphql`);
  await socket.init();
  for (const id of ids) socket.subscribe(id, sessionEvents, variables);
  for (const id of ids) expect((await socket.receiveFor(id))?.payload).toMatchObject(last);
  return socket;
}

async function openEventStream() {
  const stream = await openStream(`${app.url}/graphql`, sessionEvents, variables);
  expect(await stream.nextResult()).toMatchObject(last);
  return stream;
}

/** Opens ten subscriptions, and gives the way to drop them. */
const ways: readonly (readonly [string, () => Promise<() => Promise<unknown>>])[] = [
  [
    'one by one, on sockets that stay',
    async () => {
      const socket = await openSocket();
      return async () => {
        for (const id of ids) socket.complete(id);
        // An operation that is answered after them shows that they were read.
        socket.subscribe('afterwards', '{ viewer { id } }');
        await socket.receiveFor('afterwards');
        await socket.close();
      };
    },
  ],
  [
    'with a closing handshake',
    async () => {
      const socket = await openSocket();
      return () => socket.close();
    },
  ],
  [
    'with their connection',
    async () => {
      const socket = await openSocket();
      return () => {
        socket.socket.terminate();
        return socket.closed;
      };
    },
  ],
  [
    'with their event stream',
    async () => {
      const streams = await Promise.all(ids.map(openEventStream));
      return () => {
        for (const stream of streams) stream.drop();
        return Promise.all(streams.map(({ ended }) => ended));
      };
    },
  ],
];

describe.each(ways)('a thousand subscriptions that are dropped %s', (_way, openTen) => {
  async function openAndDrop(count: number): Promise<void> {
    for (let opened = 0; opened < count; opened += atATime) {
      const drops: (() => Promise<unknown>)[] = [];
      for (let open = 0; open < atATime; open += perConnection) drops.push(await openTen());
      app.forgetLog();
      await Promise.all(drops.map((drop) => drop()));
      await expect.poll(linesOfLeft, patience).toBe(atATime);
    }
    app.forgetLog();
  }

  it('leave nothing', async () => {
    // What is made once and kept, such as the pools of Node, is made by then.
    await openAndDrop(atATime);
    const objects = await settledObjects();
    const bytes = bytesInUse();
    await openAndDrop(many);
    // A connection to Postgres that has come since is a hundred objects.
    expect((await settledObjects()) - objects).toBeLessThan(many / 4);
    expect(bytesInUse() - bytes).toBeLessThan(5_000 * many);
  }, 180_000);
});
