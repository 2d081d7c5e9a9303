import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Subscription, subscribe, wsClient } from '../clients/ws.js';
import { chatClient, openTurn, textOf } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { sessionEvents, turnEvents } from '../support/documents.js';
import { lastUserText, type ScriptedProvider, startProvider } from '../support/provider.js';
import { replicaBundle } from '../support/replica-bundle.js';
import { useReplicas } from '../support/replicas.js';
import * as script from '../support/script.js';
import { gapsIn, isEnd, sinceLastStart } from '../support/told.js';

// Field report A67: a client reconnects, and some of its subscriptions do not come back.
const gapMs = 5_000;
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

/** A WebSocket that writes down what becomes of it. */
function recordingSockets() {
  const sockets: { opened: boolean; subscribed: number }[] = [];
  class RecordingSocket extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      const record = { opened: false, subscribed: 0 };
      sockets.push(record);
      this.once('open', () => {
        record.opened = true;
      });
      const send = this.send.bind(this) as (data: string) => void;
      this.send = (data: unknown) => {
        if (String(data).includes('"type":"subscribe"')) record.subscribed += 1;
        send(String(data));
      };
    }
  }
  return { sockets, RecordingSocket };
}

/** Follows something as docs/protocol.md says: whenever the client subscribes anew, behind the last event it has. */
function follow(client: ReturnType<typeof wsClient>, document: string, variables: object, seen: Event[]) {
  const subscription: Subscription = subscribe(client, document, {
    ...variables,
    get after() {
      return seen.at(-1)?.cursor;
    },
  });
  return {
    seen,
    async until(test: (seen: Event[]) => boolean) {
      while (!test(seen)) {
        const result = await subscription.next();
        if (result === null) throw new Error('a subscription ended before the event came');
        expect(result.errors).toBeUndefined();
        seen.push(Object.values(result.data)[0]);
      }
    },
    leave: subscription.leave,
  };
}

const half = 'half of the rep';
const whole = 'the whole reply, after all';
const ends = (count: number) => (seen: Event[]) => seen.filter(isEnd).length === count;

it('ten subscriptions of a stock client go on after a server that was away for five seconds', async () => {
  const [server] = await useReplicas(1, { provider, database });
  const http = chatClient(server.url);
  provider.onRequest((request) =>
    lastUserText(request) === 'be slow' ? [script.text(half, { chunks: 3 }), script.silence()] : undefined,
  );
  const { sockets, RecordingSocket } = recordingSockets();
  const stock = wsClient(`${server.url}/graphql`, {
    webSocketImpl: RecordingSocket,
    retryAttempts: 20,
    shouldRetry: () => true,
  });

  const startTurn = async (message: string) => {
    const sessionId = await http.createSession();
    const stream = openTurn(server.url, 'ws', sessionId, message);
    const seen = [await stream.next()];
    if (message === 'hello') seen.push(...(await stream.rest()));
    else stream.leave();
    return { sessionId, seen, turnId: seen[0].turnId };
  };
  const inReply = await Promise.all(Array.from({ length: 7 }, () => startTurn('be slow')));
  const idle = await Promise.all(Array.from({ length: 3 }, () => startTurn('hello')));
  const busy = inReply.map(({ sessionId, turnId, seen }, at) =>
    at < 4 ? follow(stock, turnEvents, { turnId }, seen) : follow(stock, sessionEvents, { sessionId }, seen),
  );
  const quiet = idle.map(({ sessionId, seen }) => follow(stock, sessionEvents, { sessionId }, seen));
  await Promise.all(busy.map(({ until }) => until((seen) => textOf(seen) === half)));
  await subscribe(stock, '{ viewer { id } }').rest();

  const requests = provider.requests.length;
  provider.onRequest((request) =>
    lastUserText(request) === 'be slow' ? script.reply(whole, { chunks: 4 }) : undefined,
  );
  await server.term();
  await sleep(gapMs);
  await server.restart();
  await Promise.all(busy.map(({ until }) => until(ends(1))));
  await Promise.all(idle.map(({ sessionId }) => http.send(sessionId, 'and now?')));
  await Promise.all(quiet.map(({ until }) => until(ends(2))));

  for (const { seen } of [...busy, ...quiet]) {
    const numbers = seen.map(({ sequence }) => sequence);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(gapsIn(sinceLastStart(seen))).toEqual([]);
  }
  for (const { seen } of busy) {
    expect(textOf(sinceLastStart(seen))).toBe(whole);
    expect(seen.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: whole } });
  }
  for (const { seen } of quiet) {
    expect(gapsIn(seen)).toEqual([]);
    expect(textOf(seen)).toBe('echo: helloecho: and now?');
  }
  // Every turn was asked for once more, and every subscription was made once more, all on one socket, which was found
  // after a few attempts.
  expect(provider.requests).toHaveLength(requests + inReply.length + idle.length);
  expect(sockets.at(-1)).toEqual({ opened: true, subscribed: 10 });
  expect(sockets.filter(({ opened }) => opened)).toHaveLength(2);
  expect(sockets.length).toBeGreaterThan(2);
  expect(sockets.length).toBeLessThanOrEqual(6);
  for (const { leave } of [...busy, ...quiet]) leave();
  await stock.dispose();
}, 120_000);
