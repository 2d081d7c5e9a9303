import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { subscribe, wsClient } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import { runSql } from '../support/database-server.js';
import { sessionEvents, stream, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { isEnd, sinceLastStart } from '../support/told.js';

// Stock WebSocket clients silently re-send a subscription after every interruption, so a stream that starts a turn
// doubles turns and cost unless the second run is recognised. See fact M1 of the reliability notes, and field report
// A07: reconnecting too late starts a second reply.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

/** A stock client that retries, and whose sockets the test can break. */
function retryingClient() {
  const sockets: WebSocket[] = [];
  class BreakableSocket extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      sockets.push(this);
    }
  }
  const stock = wsClient(`${app.url}/graphql`, {
    webSocketImpl: BreakableSocket,
    retryAttempts: 5,
    retryWait: () => Promise.resolve(),
    shouldRetry: () => true,
  });
  return { stock, breakSocket: () => sockets.at(-1)?.terminate(), sockets };
}

describe('a stock client that loses its connection in the middle of a stream', { timeout: 30_000 }, () => {
  it.each([
    ['without a client id, by its operation id', {}],
    ['with a client id', { clientMessageId: 'mine' }],
  ])('%s: finds its turn again, whole, and starts no other', async (_how, more) => {
    const id = await client.createSession();
    const half = script.gate();
    app.provider.enqueue([
      script.text('first half, ', { chunks: 3 }),
      script.pause(half),
      script.text('second half', { chunks: 3 }),
      script.finish('stop'),
      script.usage({ prompt: 5, completion: 6 }),
    ]);
    const requests = app.provider.requests.length;
    const { stock, breakSocket, sockets } = retryingClient();
    const turn = subscribe(stock, stream, { input: { sessionId: id, message: 'go', ...more } });
    // biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer is its own business.
    const events: any[] = [];
    const read = async () => {
      const result = await turn.next();
      if (result) events.push(result.data.stream);
      return result !== null;
    };
    for (let breaks = 0; breaks < 3; breaks += 1) {
      while ((await read()) && events.at(-1).__typename !== 'TextDelta');
      breakSocket();
    }
    half.open();
    while (await read());
    expect(sockets.length).toBe(4);
    const seen = sinceLastStart(events);
    expect(textOf(seen)).toBe('first half, second half');
    expect(seen.at(-1).__typename).toBe('TurnCompleted');
    expect(new Set(events.map((event) => event.turnId)).size).toBe(1);
    expect(app.provider.requests.length - requests).toBe(1);
    const session = await client.session(id);
    expect(session).toMatchObject({ turnCount: 1, messageCount: 2, totalTokens: 11 });
    expect(session.history[1].content).toBe('first half, second half');
    await stock.dispose();
  });

  it('is not mistaken for another one that counts its operations from 1', async () => {
    const id = await client.createSession();
    for (const round of [1, 2]) {
      const counting = wsClient(`${app.url}/graphql`, { generateID: () => '1' });
      await subscribe(counting, stream, { input: { sessionId: id, message: 'hi' } }).rest();
      await counting.dispose();
      expect((await client.session(id)).turnCount).toBe(round);
    }
  });
});

describe('a client that comes back when its turn has long ended', () => {
  /** Puts every turn an hour back. */
  const makeOld = () =>
    runSql(
      app.database.url,
      `UPDATE turns SET created_at = created_at - interval '1 hour', started_at = started_at - interval '1 hour',
              finished_at = finished_at - interval '1 hour', lease_expires_at = now() - interval '1 hour'`,
    );
  let url: string;
  const servers = [
    ['that has run it', async () => app.url],
    ['that was started since', async () => (url ??= (await app.restart()).url)],
  ] as const;

  describe.each(servers)('to the server %s', { timeout: 30_000 }, (_which, server) => {
    it.each<Transport>(['ws', 'sse'])('over %s is told it again, and no model is asked', async (transport) => {
      const at = await server();
      const id = await chatClient(at).createSession();
      const input = { sessionId: id, message: 'long ago', clientMessageId: 'mine' };
      const told = await openTurn(at, 'ws', id, 'long ago', { clientMessageId: 'mine' }).rest();
      const { turnId } = told[0];
      await makeOld();
      const requests = app.provider.requests.length;

      const again = await openEvents(at, transport, turnEvents, { turnId }).rest();
      expect(textOf(again)).toBe('echo: long ago');
      expect(again.at(-1)).toEqual(told.at(-1));
      const rest = await openEvents(at, transport, turnEvents, { turnId, after: told[0].cursor }).rest();
      expect(rest).toEqual(again.slice(1));
      // Who has seen the end is told that there is no more.
      expect(await openEvents(at, transport, turnEvents, { turnId, after: told.at(-1).cursor }).rest()).toEqual([]);
      expect(await openEvents(at, transport, stream, { input }).rest()).toEqual(again);

      expect(app.provider.requests).toHaveLength(requests);
      expect((await chatClient(at).session(id)).turnCount).toBe(1);
    });

    it.each<Transport>(['ws', 'sse'])('over %s waits in the idle session for what comes next', async (transport) => {
      const at = await server();
      const id = await chatClient(at).createSession();
      const told = await openTurn(at, 'ws', id, 'long ago').rest();
      await makeOld();
      const requests = app.provider.requests.length;
      const fromEnd = openEvents(at, transport, sessionEvents, { sessionId: id, after: told.at(-1).cursor });
      const fromStart = openEvents(at, transport, sessionEvents, { sessionId: id, after: told[0].cursor });
      // All of the old turn has been told, so that the next event is one of the next turn.
      await fromStart.until(isEnd);
      expect(app.provider.requests).toHaveLength(requests);
      expect((await chatClient(at).session(id)).turnCount).toBe(1);

      const next = [fromEnd, fromStart].map((events) => events.next());
      const { turn } = await chatClient(at).send(id, 'now');
      for (const event of await Promise.all(next)) {
        expect(event).toMatchObject({ __typename: 'TurnStarted', turnId: turn.id });
      }
      expect(app.provider.requests).toHaveLength(requests + 1);
      for (const events of [fromEnd, fromStart]) events.leave();
    });
  });
});
