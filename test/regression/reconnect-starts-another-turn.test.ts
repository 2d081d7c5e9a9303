import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { subscribe, wsClient } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, textOf } from '../support/client.js';
import { stream } from '../support/documents.js';
import * as script from '../support/script.js';

// Stock WebSocket clients silently re-send a subscription after every interruption, so a stream that starts a turn
// doubles turns and cost unless the second run is recognised. See fact M1 of the reliability notes.
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

/** What a client has of a turn when it drops what it had at every TurnStarted, as the contract says. */
function sinceLastStart<Event extends { __typename: string }>(events: readonly Event[]): Event[] {
  return events.slice(events.findLastIndex((event) => event.__typename === 'TurnStarted'));
}

describe('a stock client that loses its connection in the middle of a stream', () => {
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
