import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, type Transport, textOf } from '../support/client.js';
import { stream, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { gapsIn, isEnd } from '../support/told.js';

// Field report A05: a connection that a proxy ends politely is taken for the end of the reply.
let app: TestApp;
let client: ChatClient;
let tcp: TcpProxy;
let http: HttpProxy;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
  tcp = await startTcpProxy(app.url);
  http = await startHttpProxy(app.url);
});
afterAll(async () => {
  http.close();
  await tcp.close();
  await app.close();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

interface HttpProxy {
  readonly url: string;
  /** Ends every answer under way as if it were complete. */
  end(): void;
  close(): void;
}

/** A proxy that speaks HTTP itself, so that an answer which it ends is whole for its client. */
async function startHttpProxy(target: string): Promise<HttpProxy> {
  const open = new Set<{ response: ServerResponse; upstream: IncomingMessage }>();
  const server = createServer((incoming, response) => {
    const { method, headers, url } = incoming;
    const outgoing = request(new URL(url ?? '/', target), { method, headers, agent: false }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      const exchange = { response, upstream };
      open.add(exchange);
      response.once('close', () => open.delete(exchange));
      upstream.on('data', (bytes) => response.write(bytes));
      upstream.on('end', () => response.end());
    });
    outgoing.on('error', () => response.end());
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    end() {
      for (const { response, upstream } of open) {
        response.end();
        upstream.destroy();
      }
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What a bare client reads through a proxy: events, then what else the stream said until it was over. */
interface Reading {
  next(): Promise<Event>;
  /** Names of the frames or stream events until the connection was over. */
  restOfConnection(): Promise<string[]>;
}

async function read(transport: Transport, url: string, document: string, variables: object): Promise<Reading> {
  if (transport === 'sse') {
    const reading = await openStream(`${url}/graphql`, document, { ...variables });
    return {
      next: async () => Object.values((await reading.nextResult()).data)[0],
      restOfConnection: async () => (await reading.rest()).map(({ event }) => event),
    };
  }
  const socket = await rawSocket(`${url}/graphql`);
  await socket.init();
  socket.subscribe('1', document, { ...variables });
  return {
    next: async () => Object.values((await socket.receiveFor('1'))?.payload.data)[0],
    async restOfConnection() {
      const types: string[] = [];
      for (let frame = await socket.receiveFor('1'); frame; frame = await socket.receiveFor('1'))
        types.push(frame.type);
      return types;
    },
  };
}

describe.each<[string, Transport, () => { readonly url: string; end(): void }]>([
  ['an event stream ended with FIN by a TCP proxy', 'sse', () => tcp],
  ['an event stream ended as a whole answer by an HTTP proxy', 'sse', () => http],
  ['a WebSocket ended with FIN by a TCP proxy', 'ws', () => tcp],
])('%s', (_what, transport, proxy) => {
  it('in the middle of a turn brings no last event, and a new subscription goes on with the rest', async () => {
    const sessionId = await client.createSession();
    const gate = script.gate();
    const requests = app.provider.requests.length;
    app.provider.enqueue([
      script.text('the first part, ', { chunks: 4 }),
      script.pause(gate),
      script.text('and the rest', { chunks: 3 }),
      script.finish('stop'),
      script.usage({ prompt: 3, completion: 7 }),
    ]);
    const input = { sessionId, message: 'go', clientMessageId: 'mine' };
    const reading = await read(transport, proxy().url, stream, { input });
    const seen: Event[] = [];
    while (textOf(seen) !== 'the first part, ') seen.push(await reading.next());

    proxy().end();
    expect(await reading.restOfConnection()).toEqual([]);
    expect(seen.filter(isEnd)).toEqual([]);
    expect((await client.session(sessionId)).activeTurn).toMatchObject({ id: seen[0].turnId, status: 'RUNNING' });

    const { turnId, cursor: after } = seen.at(-1);
    const byTurn = openEvents(proxy().url, 'sse', turnEvents, { turnId, after });
    const byKey = openEvents(proxy().url, 'sse', stream, { input: { ...input, after } });
    gate.open();
    for (const resumed of [await byTurn.rest(), await byKey.rest()]) {
      expect(textOf([...seen, ...resumed])).toBe('the first part, and the rest');
      expect(gapsIn([...seen, ...resumed])).toEqual([]);
      expect(resumed.filter(isEnd)).toHaveLength(1);
      expect(resumed.at(-1).__typename).toBe('TurnCompleted');
    }
    expect(app.provider.requests).toHaveLength(requests + 1);
    expect((await client.send(sessionId, 'next')).content).toBe('echo: next');
  }, 30_000);
});
