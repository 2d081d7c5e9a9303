import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gql } from '../../clients/http.js';
import { codesOf } from '../../clients/results.js';
import { openStream, sseClient, subscribeSse } from '../../clients/sse.js';
import { rawSocket, subscribe, upgradeStatus, wsClient } from '../../clients/ws.js';
import { useTransport } from '../../support/transport.js';

const statusOf = async (url: string) => {
  const response = await fetch(url);
  return [response.status, await response.json()];
};

describe('a server that drains (G1)', () => {
  it('is not ready at once, and alive', async () => {
    const { base, transport } = await useTransport();
    expect(await statusOf(`${base}/readyz`)).toEqual([200, { status: 'ready' }]);
    transport.drain();
    expect(await statusOf(`${base}/readyz`)).toEqual([503, { status: 'stopping' }]);
    expect(await statusOf(`${base}/healthz`)).toEqual([200, { status: 'ok' }]);
  });

  it('takes nothing new, and says so in a way that clients try again', async () => {
    const { url, transport, activity, log } = await useTransport();
    const busy = await rawSocket(url);
    await busy.init();
    busy.subscribe('1', 'subscription { silent }');
    await activity.whenOpen(1);
    transport.drain();
    const { status, headers, body } = await gql(url, 'mutation { bump }');
    expect([status, codesOf(body), headers.get('retry-after')]).toEqual([503, ['UNAVAILABLE'], '1']);
    expect(body.errors?.[0]?.extensions).toMatchObject({ retryable: true });
    expect(await upgradeStatus(url)).toBe(503);
    busy.subscribe('2', 'mutation { bump }');
    expect(await busy.receiveFor('2')).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'UNAVAILABLE' } }],
    });
    expect(activity.bumps).toBe(0);
    // It is no fault, so whoever is called when faults are logged sleeps through a deploy.
    for (const transport of ['http', 'ws']) {
      const line = await log.line((one) => one.transport === transport && String(one.codes) === 'UNAVAILABLE');
      expect(line).toMatchObject({ level: 'info' });
      expect(line).not.toHaveProperty('err');
    }
  });

  it('closes the connection with every answer, so that the next request goes elsewhere', async () => {
    const { base, url, transport, activity } = await useTransport();
    const connectionOf = async (answer: Promise<{ readonly headers: Headers }>) =>
      (await answer).headers.get('connection');
    expect(await connectionOf(gql(url, '{ hello }'))).toBe('keep-alive');
    const asked = connectionOf(gql(url, '{ slow }'));
    await activity.slowStarted;
    transport.drain();
    activity.finishSlow('done');
    expect(await asked).toBe('close');
    expect(await connectionOf(gql(url, '{ hello }'))).toBe('close');
    expect(await connectionOf(fetch(`${base}/readyz`))).toBe('close');
    expect(await connectionOf(fetch(`${base}/healthz`))).toBe('close');
  });

  it('lets what runs go on to its end, and sends home whoever has nothing left', async () => {
    const { url, transport, activity } = await useTransport();
    const idle = await rawSocket(url);
    await idle.init();
    const busy = await rawSocket(url);
    await busy.init();
    busy.subscribe('1', 'subscription { ticks(to: 3, everyMs: 50) }');
    const stream = await openStream(url, 'subscription { ticks(to: 3, everyMs: 50) }');
    const request = gql(url, '{ slow }');
    await activity.slowStarted;
    await activity.whenOpen(2);
    transport.drain();
    expect(await idle.closed).toEqual({ code: 1001, reason: 'Going away' });
    for (const ticks of [1, 2, 3]) {
      expect(await busy.receiveFor('1')).toMatchObject({ type: 'next', payload: { data: { ticks } } });
    }
    expect(await busy.receiveFor('1')).toEqual({ id: '1', type: 'complete' });
    expect(await busy.closed).toEqual({ code: 1001, reason: 'Going away' });
    expect((await stream.rest()).at(-1)).toEqual({ event: 'complete', data: '' });
    activity.finishSlow('done');
    expect((await request).body).toEqual({ data: { slow: 'done' } });
  });
});

describe('a server that closes (M16)', () => {
  it('ends sockets with 1001 and event streams without a complete', async () => {
    const { url, transport, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription { silent }');
    const stream = await openStream(url, 'subscription { silent }');
    await activity.whenOpen(2);
    await transport.close(1_000);
    expect(await socket.closed).toEqual({ code: 1001, reason: 'Going away' });
    expect(await socket.receiveFor('1')).toBeNull();
    expect(await stream.rest()).toEqual([]);
    await activity.whenOpen(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('is followed by its successor without a word to the application', async () => {
    const first = await useTransport();
    const options = { retryAttempts: 20, retryWait: () => new Promise<void>((resolve) => setTimeout(resolve, 50)) };
    const client = wsClient(first.url, options);
    const overSocket = subscribe(client, 'subscription { ticks(to: 40, everyMs: 25) }');
    const events = sseClient(first.url, { retryAttempts: 20, retry: options.retryWait });
    const overStream = subscribeSse(events, 'subscription { ticks(to: 40, everyMs: 25) }');
    await Promise.all([overSocket.next(), overStream.next()]);
    await first.transport.close(1_000);
    await useTransport({ config: { port: first.port } });
    const ticks = (await Promise.all([overSocket.rest(), overStream.rest()])).map((results) =>
      results.map(({ data }) => data.ticks as number),
    );
    for (const seen of ticks) {
      expect(seen.at(-1)).toBe(40);
      expect(seen.filter((tick) => tick === 1)).toEqual([1]);
    }
    await client.dispose();
  });

  it('gives requests their time to be answered', async () => {
    const { url, transport, activity } = await useTransport();
    const request = gql(url, '{ slow }');
    await activity.slowStarted;
    const closed = transport.close(10_000);
    setTimeout(() => activity.finishSlow('done'), 100);
    expect((await request).body).toEqual({ data: { slow: 'done' } });
    const startedAt = performance.now();
    await closed;
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('does not wait for whoever does not move, longer than the grace', async () => {
    const { url, port, transport, activity } = await useTransport();
    const asking = gql(url, '{ slow }').catch(() => 'dropped');
    await activity.slowStarted;
    const deaf = await rawSocket(url);
    await deaf.init();
    deaf.subscribe('1', 'subscription { flood(bytes: 100000) }');
    await deaf.receiveFor('1');
    deaf.socket.pause();
    const stream = await openStream(url, 'subscription { flood(bytes: 100000) }');
    stream.pause();
    const mute = connect(port, '127.0.0.1');
    await once(mute, 'connect');
    mute.write('POST /graphql HTTP/1.1\r\n');
    mute.on('error', () => {});
    await activity.whenOpen(2);
    const startedAt = performance.now();
    await transport.close(300);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(await asking).toBe('dropped');
    await activity.whenOpen(0);
    mute.destroy();
    deaf.socket.terminate();
    stream.drop();
  });

  it('is closed when any of those who told it so are answered', async () => {
    const { transport, url, activity } = await useTransport();
    const request = gql(url, '{ slow }');
    await activity.slowStarted;
    const closed = [transport.close(10_000), transport.close(0)].map((promise) => promise.then(() => 'closed'));
    expect(await Promise.race([...closed, new Promise((resolve) => setTimeout(resolve, 300, 'open'))])).toBe('open');
    activity.finishSlow('done');
    expect((await request).body).toEqual({ data: { slow: 'done' } });
    expect(await Promise.all(closed)).toEqual(['closed', 'closed']);
  });

  it('is done at once when nobody is there, and may be told twice', async () => {
    const { transport, url } = await useTransport();
    await gql(url, '{ hello }');
    const startedAt = performance.now();
    await Promise.all([transport.close(10_000), transport.close(10_000)]);
    await transport.close(10_000);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});
