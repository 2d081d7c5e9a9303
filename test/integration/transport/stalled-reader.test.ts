import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openStream, sseClient, subscribeSse } from '../../clients/sse.js';
import { rawSocket, subscribe, wsClient } from '../../clients/ws.js';
import { deferred } from '../../support/deferred.js';
import { useTransport } from '../../support/transport.js';

const keepAlive = 50;
const stalledReader = 400;
const timing = { keepAlive, stalledReader, peerSilence: 60_000, closing: 5_000 };
const flood = 'subscription { flood(bytes: 100000) }';
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A client that sends its request and reads nothing. */
async function deafPost(port: number, payload: object): Promise<Socket> {
  const connection = connect(port, '127.0.0.1');
  connection.pause();
  connection.on('error', () => {
    // That it is dropped is what the tests wait for.
  });
  await once(connection, 'connect');
  const body = JSON.stringify(payload);
  const head = ['POST /graphql HTTP/1.1', 'host: localhost', 'content-type: application/json'];
  connection.write([...head, `content-length: ${body.length}`, '', body].join('\r\n'));
  return connection;
}

/** The same answer, of which nothing is read before. */
function readAfter({ body, status, headers }: Response, moment: Promise<void>): Response {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new Response(
    new ReadableStream(
      {
        start: () => moment,
        async pull(controller) {
          reader ??= body?.getReader();
          const step = await reader?.read();
          if (step === undefined || step.done) controller.close();
          else controller.enqueue(step.value);
        },
      },
      { highWaterMark: 0 },
    ),
    { status, headers },
  );
}

/** Resolves when a figure has not changed for a while. */
async function stoodStill(figure: () => number): Promise<void> {
  let last = -1;
  for (let still = 0; still < 5; still = figure() === last ? still + 1 : 0) {
    last = figure();
    await wait(50);
  }
}

describe('a client that stops reading (C8)', () => {
  it('over WebSocket is closed with 1013 in time, nothing runs for it any more, and nobody else is concerned', async () => {
    const { url, activity, log } = await useTransport({ timing });
    const healthy = await rawSocket(url);
    await healthy.init();
    healthy.subscribe('1', 'subscription { silent }');
    const deaf = await rawSocket(url);
    await deaf.init();
    deaf.subscribe('1', flood);
    deaf.subscribe('2', 'subscription { silent }');
    await activity.whenOpen(3);
    await deaf.receiveFor('1');
    deaf.socket.pause();
    const startedAt = performance.now();
    await activity.whenOpen(1);
    expect(performance.now() - startedAt).toBeGreaterThan(stalledReader);
    expect(performance.now() - startedAt).toBeLessThan(stalledReader + 2_000);
    expect(await log.line(({ msg }) => msg === 'a socket was closed')).toMatchObject({ reason: 'Stopped reading' });
    deaf.socket.resume();
    expect(await deaf.closed).toEqual({ code: 1013, reason: 'Stopped reading' });
    healthy.subscribe('2', '{ hello }');
    expect(await healthy.receiveFor('2')).toMatchObject({ type: 'next' });
    await healthy.close();
  });

  it('over WebSocket and does not wake up is dropped', async () => {
    const { url } = await useTransport({ timing: { ...timing, closing: 100 } });
    const deaf = await rawSocket(url);
    await deaf.init();
    deaf.subscribe('1', flood);
    await deaf.receiveFor('1');
    deaf.socket.pause();
    await wait(stalledReader + 1_000);
    deaf.socket.resume();
    expect(await deaf.closed).toMatchObject({ code: 1006 });
  });

  it('over WebSocket comes back by itself when it is a stock client', async () => {
    const { url, activity } = await useTransport({ timing });
    const codes: number[] = [];
    const sockets: { pause(): void; resume(): void }[] = [];
    const client = wsClient(url, {
      retryAttempts: 5,
      retryWait: async () => {},
      on: {
        opened: (socket) => sockets.push(socket as never),
        closed: (event) => codes.push((event as { code: number }).code),
      },
    });
    const subscription = subscribe(client, flood);
    await subscription.next();
    sockets[0]?.pause();
    await activity.whenOpen(0);
    sockets[0]?.resume();
    await activity.whenOpen(1);
    expect(codes).toEqual([1013]);
    expect(await subscription.next()).toMatchObject({ data: { flood: expect.any(String) } });
    subscription.leave();
    await client.dispose();
  });

  it('over SSE is dropped in time, and its source ends', async () => {
    const { url, activity } = await useTransport({ timing });
    const deaf = await openStream(url, flood);
    await deaf.nextResult();
    deaf.pause();
    const startedAt = performance.now();
    await activity.whenOpen(0);
    expect(performance.now() - startedAt).toBeGreaterThan(stalledReader);
    expect(performance.now() - startedAt).toBeLessThan(stalledReader + 2_000);
    deaf.resume();
    expect((await deaf.rest()).every(({ event }) => event === 'next')).toBe(true);
  });

  it('over SSE comes back by itself when it is a stock client', async () => {
    const { url, activity } = await useTransport({ timing });
    const nap = deferred();
    let calls = 0;
    const client = sseClient(url, {
      retryAttempts: 5,
      retry: async () => {},
      async fetchFn(input: string, init: RequestInit) {
        calls += 1;
        const response = await fetch(input, init);
        return calls === 1 ? readAfter(response, nap.promise) : response;
      },
    });
    const subscription = subscribeSse(client, flood);
    await activity.whenOpen(1);
    await activity.whenOpen(0);
    nap.resolve();
    await activity.whenOpen(1);
    expect(await subscription.next()).toMatchObject({ data: { flood: expect.any(String) } });
    expect(calls).toBe(2);
    subscription.leave();
    await activity.whenOpen(0);
  });

  it('of a plain answer is dropped too', async () => {
    const { port, log } = await useTransport({ timing });
    const text = 'x'.repeat(1_000_000);
    const fields = Array.from({ length: 20 }, (_, at) => `f${at}: echo(text: $text)`).join(' ');
    const deaf = await deafPost(port, { query: `query Long($text: String!) { ${fields} }`, variables: { text } });
    await log.line(({ operation }) => operation === 'Long');
    let bytes = 0;
    deaf.on('data', (part) => {
      bytes += part.length;
    });
    deaf.resume();
    await once(deaf, 'close');
    expect(bytes).toBeLessThan(20 * text.length);
  });

  it('but goes on asking is not read from any more', async () => {
    const { url } = await useTransport({ timing: { ...timing, stalledReader: 60_000 } });
    const deaf = await rawSocket(url);
    await deaf.init();
    deaf.socket.pause();
    const text = 'x'.repeat(100_000);
    let sent = 0;
    const sending = (async () => {
      for (; sent < 300; sent += 1) {
        const ping = JSON.stringify({ type: 'ping', payload: { text } });
        await new Promise((resolve) => deaf.socket.send(ping, resolve));
      }
    })();
    await stoodStill(() => sent);
    expect(sent).toBeLessThan(300);
    deaf.socket.resume();
    await sending;
    deaf.subscribe('last', '{ hello }');
    expect(await deaf.receiveFor('last')).toMatchObject({ type: 'next' });
    await deaf.close();
  });
});
