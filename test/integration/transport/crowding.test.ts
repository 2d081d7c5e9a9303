import { describe, expect, it } from 'vitest';
import { gql } from '../../clients/http.js';
import { codesOf } from '../../clients/results.js';
import { openStream } from '../../clients/sse.js';
import { type RawSocket, rawSocket, upgradeStatus } from '../../clients/ws.js';
import { audience, issuer, secret, sign } from '../../support/tokens.js';
import { useTransport } from '../../support/transport.js';

const auth = { jwtSecret: secret, jwksUrl: null, issuer, audience };
const silent = 'subscription { silent }';
const refused = { type: 'next', payload: { errors: [{ extensions: { code: 'RATE_LIMITED', retryable: true } }] } };

describe('a crowd (J5)', () => {
  it('on one socket is bounded; who is there goes on, and a place that is left can be taken', async () => {
    const { url, activity } = await useTransport({ limits: { operationsPerSocket: 3 } });
    const socket = await rawSocket(url);
    await socket.init();
    for (const id of ['1', '2', '3']) {
      socket.subscribe(id, silent);
    }
    await activity.whenOpen(3);
    socket.subscribe('4', silent);
    expect(await socket.receiveFor('4')).toMatchObject({
      type: 'error',
      payload: [{ message: expect.stringContaining('3 operations'), extensions: { code: 'RATE_LIMITED' } }],
    });
    expect(activity.open).toBe(3);
    socket.complete('1');
    await activity.whenOpen(2);
    socket.subscribe('5', 'subscription { ticks(to: 1) }');
    expect(await socket.receiveFor('5')).toMatchObject({ type: 'next', payload: { data: { ticks: 1 } } });
    await socket.close();
  });

  it('of 5,000 subscriptions on one socket is too many by default', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    for (let id = 0; id < 5_000; id += 1) {
      socket.subscribe(String(id), silent);
    }
    expect(await socket.receiveFor('4999')).toMatchObject({ type: 'error' });
    expect(activity.open).toBe(1_000);
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
    socket.socket.terminate();
    await activity.whenOpen(0);
  }, 30_000);

  it('of sockets is refused at the door, and the door opens again', async () => {
    const { url } = await useTransport({ limits: { sockets: 2 } });
    const sockets = [await rawSocket(url), await rawSocket(url)];
    expect(await upgradeStatus(url)).toBe(429);
    expect((await gql(url, '{ hello }')).status).toBe(200);
    await sockets[0]?.close();
    const another = await rawSocket(url);
    expect(await another.init()).toEqual({ type: 'connection_ack' });
    await another.close();
    await sockets[1]?.close();
  });

  it('of one principal is bounded without a loss to others', async () => {
    const { url } = await useTransport({ auth, limits: { socketsPerPrincipal: 2 } });
    const alice = { authorization: `Bearer ${await sign({ sub: 'alice' })}` };
    const bob = { authorization: `Bearer ${await sign({ sub: 'bob' })}` };
    const open: RawSocket[] = [];
    for (let count = 0; count < 2; count += 1) {
      const socket = await rawSocket(url);
      expect(await socket.init(alice)).toMatchObject({ type: 'connection_ack' });
      open.push(socket);
    }
    const third = await rawSocket(url);
    await third.init(alice);
    expect(await third.closed).toEqual({ code: 1013, reason: 'Too many connections' });
    const other = await rawSocket(url);
    expect(await other.init(bob)).toMatchObject({ type: 'connection_ack' });
    await open[0]?.close();
    const fourth = await rawSocket(url);
    expect(await fourth.init(alice)).toMatchObject({ type: 'connection_ack' });
    await Promise.all([other.close(), fourth.close(), open[1]?.close()]);
  });

  it('of subscriptions is counted for a principal over WebSocket and SSE together', async () => {
    const { url, activity } = await useTransport({ auth, limits: { streamsPerPrincipal: 2 } });
    const authorization = `Bearer ${await sign({ sub: 'alice' })}`;
    const socket = await rawSocket(url);
    await socket.init({ authorization });
    socket.subscribe('1', silent);
    const stream = await openStream(url, silent, undefined, { authorization });
    await activity.whenOpen(2);
    socket.subscribe('2', silent);
    expect(await socket.receiveFor('2')).toMatchObject(refused);
    const another = await openStream(url, silent, undefined, { authorization });
    expect(codesOf(await another.nextResult())).toEqual(['RATE_LIMITED']);
    const others = await openStream(url, 'subscription { ticks(to: 1) }', undefined, {
      authorization: `Bearer ${await sign({ sub: 'alice', tenant: 'acme' })}`,
    });
    expect(await others.nextResult()).toEqual({ data: { ticks: 1 } });
    stream.drop();
    await activity.whenOpen(1);
    socket.subscribe('3', silent);
    await activity.whenOpen(2);
    await socket.close();
  });

  it('that fails again and again takes no place for good', async () => {
    const { url, activity } = await useTransport({
      limits: { operationsPerSocket: 2, streams: 2, streamsPerPrincipal: 2, sockets: 2 },
    });
    const failing = [
      'subscription { broken }',
      'subscription { refused }',
      'subscription { breaks }',
      '{ fails }',
      '{',
    ];
    const socket = await rawSocket(url);
    await socket.init();
    for (let round = 0; round < 50; round += 1) {
      const query = failing[round % failing.length] as string;
      socket.subscribe(`f${round}`, query);
      for (let frame = await socket.receiveFor(`f${round}`); frame?.type === 'next'; ) {
        frame = await socket.receiveFor(`f${round}`);
      }
      await (await openStream(url, query)).rest();
      await upgradeStatus(`${url}-nowhere`);
    }
    socket.subscribe('a', silent);
    socket.subscribe('b', silent);
    await activity.whenOpen(2);
    const other = await rawSocket(url);
    await other.close();
    await socket.close();
    await activity.whenOpen(0);
  });
});
