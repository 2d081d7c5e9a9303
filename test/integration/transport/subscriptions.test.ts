import { describe, expect, it } from 'vitest';
import { gql } from '../../clients/http.js';
import { codesOf, type Result } from '../../clients/results.js';
import { openStream, sseClient, subscribeSse } from '../../clients/sse.js';
import { rawSocket, subscribe, wsClient } from '../../clients/ws.js';
import { type TestTransport, useTransport } from '../../support/transport.js';
import { innerSecret } from '../../support/transport-schema.js';

/** All results of a subscription over each transport, as its stock client hands them out. */
const overBoth = async ({ url }: TestTransport, subscription: string): Promise<readonly [string, Result[]][]> => {
  const client = wsClient(url);
  const overSocket = await subscribe(client, subscription).rest();
  await client.dispose();
  return [
    ['ws', overSocket],
    ['sse', await subscribeSse(sseClient(url), subscription).rest()],
  ];
};

describe('a subscription', () => {
  it('gives every result in order and then its end, over WebSocket and SSE', async () => {
    const server = await useTransport();
    for (const [transport, results] of await overBoth(server, 'subscription { ticks(to: 3) }')) {
      expect([transport, results]).toEqual([transport, [1, 2, 3].map((ticks) => ({ data: { ticks } }))]);
    }
  });

  it('stays on one event stream while results come far apart (A70)', async () => {
    const { url, activity } = await useTransport({ timing: { keepAlive: 50 } });
    const stream = await openStream(url, 'subscription { ticks(to: 3, everyMs: 200) }');
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(stream.headers).not.toHaveProperty('content-length');
    expect(await stream.rest()).toEqual([
      { event: 'next', data: '{"data":{"ticks":1}}' },
      { event: 'next', data: '{"data":{"ticks":2}}' },
      { event: 'next', data: '{"data":{"ticks":3}}' },
      { event: 'complete', data: '' },
    ]);
    expect(stream.comments).toBeGreaterThanOrEqual(4);
    expect(activity.open).toBe(0);
  });

  it('knows its operation id over WebSocket, its request id everywhere', async () => {
    const { url, log } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('my-operation', 'subscription Mine { operation { operationId requestId } }');
    const frame = await socket.receiveFor('my-operation');
    expect(frame?.payload.data.operation).toEqual({ operationId: 'my-operation', requestId: expect.any(String) });
    expect(await log.line(({ operation }) => operation === 'Mine')).toMatchObject({
      requestId: frame?.payload.data.operation.requestId,
      transport: 'ws',
      kind: 'subscription',
      results: 1,
    });
    await socket.close();
    const stream = await openStream(url, 'subscription { operation { operationId requestId } }', undefined, {
      'x-request-id': 'request-9',
    });
    expect(await stream.nextResult()).toEqual({ data: { operation: { operationId: null, requestId: 'request-9' } } });
    expect(await log.line(({ requestId }) => requestId === 'request-9')).toMatchObject({ transport: 'sse' });
  });

  it('refuses a client that could not read its stream, before it has any effect', async () => {
    const { url, activity } = await useTransport();
    const query = 'subscription { sent(input: { sessionId: "1", message: "hi" }) }';
    const { status, body } = await gql(url, query);
    expect([status, codesOf(body)]).toEqual([406, ['BAD_USER_INPUT']]);
    expect(body.errors?.[0]?.message).toContain('text/event-stream');
    expect(activity.sends).toEqual([]);
  });

  it('streams to a client that takes anything', async () => {
    const { url } = await useTransport();
    const stream = await openStream(url, 'subscription { ticks(to: 1) }', undefined, { accept: '*/*' });
    expect(await stream.nextResult()).toEqual({ data: { ticks: 1 } });
  });

  it('answers a query as a stream to a client that reads nothing else', async () => {
    const { url } = await useTransport();
    const stream = await openStream(url, '{ hello }');
    expect(await stream.rest()).toEqual([
      { event: 'next', data: '{"data":{"hello":"world"}}' },
      { event: 'complete', data: '' },
    ]);
  });
});

describe('an error of a subscription', () => {
  it.each([
    ['a refusal', 'refused', [], 'NOT_FOUND'],
    ['a bug at its start', 'broken', [], 'INTERNAL'],
    ['a database that is away', 'unavailable', [], 'UNAVAILABLE'],
    ['a source that throws', 'breaks', [{ data: { breaks: 1 } }], 'INTERNAL'],
  ])('is one typed result and the end, the same in both transports: %s (A65)', async (_what, field, before, code) => {
    const server = await useTransport();
    for (const [transport, results] of await overBoth(server, `subscription { ${field} }`)) {
      expect(results.slice(0, -1), transport).toEqual(before);
      const last = results.at(-1) as Result;
      expect(last, transport).not.toHaveProperty('data');
      expect(codesOf(last), transport).toEqual([code]);
      expect(JSON.stringify(last)).not.toContain(innerSecret);
    }
    expect((await gql(server.url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
    expect(server.activity.open).toBe(0);
  });

  it('in one field of one result ends nothing', async () => {
    const server = await useTransport();
    for (const [transport, results] of await overBoth(server, 'subscription { partial }')) {
      expect(results.map(codesOf), transport).toEqual([[], ['BAD_USER_INPUT'], []]);
      expect(
        results.map(({ data }) => data.partial),
        transport,
      ).toEqual([1, null, 3]);
    }
  });

  it('ends that subscription alone and never its socket (A64)', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('lives', 'subscription { ticks(to: 1000, everyMs: 5) }');
    await socket.receiveFor('lives');
    const failing = {
      refused: 'subscription { refused }',
      broken: 'subscription { broken }',
      breaks: 'subscription { breaks }',
      invalid: 'subscription { nope }',
      unparsable: 'subscription {',
      nameless: 'query A { hello } query B { hello }',
      empty: ' ',
    };
    for (const [id, query] of Object.entries(failing)) {
      socket.subscribe(id, query);
    }
    const ends: Record<string, unknown> = {};
    for (const id of Object.keys(failing)) {
      const types: string[] = [];
      let codes: unknown[] = [];
      for (let frame = await socket.receiveFor(id); frame; frame = await socket.receiveFor(id)) {
        types.push(frame.type);
        codes =
          frame.type === 'error' ? codesOf({ errors: frame.payload }) : codes.concat(codesOf(frame.payload ?? {}));
        if (frame.type !== 'next') {
          break;
        }
      }
      ends[id] = [types.join(' '), ...codes];
    }
    expect(ends).toEqual({
      refused: ['next complete', 'NOT_FOUND'],
      broken: ['next complete', 'INTERNAL'],
      breaks: ['next next complete', 'INTERNAL'],
      invalid: ['error', 'BAD_USER_INPUT'],
      unparsable: ['error', 'BAD_USER_INPUT'],
      nameless: ['error', 'BAD_USER_INPUT'],
      empty: ['error', 'BAD_USER_INPUT'],
    });
    const tick = (await socket.receiveFor('lives'))?.payload.data.ticks as number;
    expect((await socket.receiveFor('lives'))?.payload.data.ticks).toBe(tick + 1);
    socket.complete('lives');
    await activity.whenOpen(0);
    await socket.close();
  });

  it('is in the log once, with its stack when it is ours', async () => {
    const server = await useTransport();
    await overBoth(server, 'subscription Breaks { breaks }');
    const lines = server.log.lines().filter(({ operation }) => operation === 'Breaks');
    expect(lines).toMatchObject([
      { level: 'error', transport: 'ws', codes: ['INTERNAL'], err: { type: 'Error' } },
      { level: 'error', transport: 'sse', codes: ['INTERNAL'], err: { type: 'Error' } },
    ]);
  });
});

describe('queries and mutations over WebSocket', () => {
  it('run through the same pipeline as over HTTP', async () => {
    const { url, activity } = await useTransport();
    const client = wsClient(url);
    expect(await subscribe(client, 'mutation { bump }').rest()).toEqual([{ data: { bump: 1 } }]);
    expect(await subscribe(client, 'query ($t: String!) { echo(text: $t) }', { t: 'hi' }).rest()).toEqual([
      { data: { echo: 'hi' } },
    ]);
    const [failed] = await subscribe(client, '{ fails }').rest();
    expect(codesOf(failed as Result)).toEqual(['INTERNAL']);
    expect(JSON.stringify(failed)).not.toContain(innerSecret);
    expect(activity.bumps).toBe(1);
    await client.dispose();
  });
});
