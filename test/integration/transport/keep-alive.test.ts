import { describe, expect, it } from 'vitest';
import { openStream } from '../../clients/sse.js';
import { rawSocket } from '../../clients/ws.js';
import { useTransport } from '../../support/transport.js';

const keepAlive = 50;

describe('an idle WebSocket (C9)', () => {
  it('is pinged throughout, also before and without any subscription', async () => {
    const { url } = await useTransport({ timing: { keepAlive } });
    const socket = await rawSocket(url);
    await socket.nextPing();
    await socket.init();
    for (let count = 0; count < 5; count += 1) {
      await socket.nextPing();
    }
    socket.subscribe('1', 'subscription { silent }');
    for (let count = 0; count < 5; count += 1) {
      await socket.nextPing();
    }
    socket.subscribe('2', '{ hello }');
    expect(await socket.receiveFor('2')).toMatchObject({ type: 'next' });
    await socket.close();
  });

  it('is pinged again after its client did not read for a while (A63)', async () => {
    const { url, activity } = await useTransport({ timing: { keepAlive, peerSilence: 20 * keepAlive } });
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription { silent }');
    await activity.whenOpen(1);
    socket.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 6 * keepAlive));
    const before = socket.pings;
    socket.socket.resume();
    while (socket.pings < before + 10) {
      await socket.nextPing();
    }
    expect(activity.open).toBe(1);
    await socket.close();
  });

  it('counts as dead when nothing is heard from it, and what ran on it ends', async () => {
    const { url, activity } = await useTransport({ timing: { keepAlive, peerSilence: 4 * keepAlive } });
    const socket = await rawSocket(url);
    await socket.init();
    // The last sign of life is this message or a later one, so the silence begins after this moment.
    const startedAt = performance.now();
    socket.subscribe('1', 'subscription { silent }');
    await activity.whenOpen(1);
    // To the server this looks as a network that has gone: no frame is answered and no connection is closed.
    socket.socket.pause();
    await activity.whenOpen(0);
    expect(performance.now() - startedAt).toBeGreaterThan(3 * keepAlive);
    socket.socket.terminate();
  });

  it('lives by anything that is heard from it, pongs or not', async () => {
    const { url, activity } = await useTransport({ timing: { keepAlive, peerSilence: 3 * keepAlive } });
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription { silent }');
    await activity.whenOpen(1);
    socket.socket.pause();
    for (let count = 0; count < 12; count += 1) {
      socket.send({ type: 'ping' });
      await new Promise((resolve) => setTimeout(resolve, keepAlive));
    }
    expect(activity.open).toBe(1);
    socket.socket.terminate();
  });

  it('lives while its client reads, be it so slowly that pongs come late', async () => {
    const { url, activity } = await useTransport({ timing: { keepAlive, peerSilence: 1_200 } });
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription { flood(bytes: 50000) }');
    const startedAt = performance.now();
    while (performance.now() - startedAt < 3_500) {
      socket.socket.pause();
      await new Promise((resolve) => setTimeout(resolve, keepAlive / 2));
      socket.socket.resume();
      await socket.receiveFor('1');
    }
    expect(activity.open).toBe(1);
    socket.socket.terminate();
  });

  it('answers the pings of the protocol', async () => {
    const { url } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.send({ type: 'ping', payload: { sent: 1 } });
    expect(await socket.receive()).toEqual({ type: 'pong', payload: { sent: 1 } });
    await socket.close();
  });
});

describe('an idle event stream (C9)', () => {
  it('carries comments throughout', async () => {
    const { url } = await useTransport({ timing: { keepAlive } });
    const stream = await openStream(url, 'subscription { silent }');
    for (let count = 0; count < 10; count += 1) {
      await stream.nextComment();
    }
    stream.drop();
  });

  it('carries them again after its client did not read for a while (A63)', async () => {
    const { url, activity } = await useTransport({ timing: { keepAlive } });
    const stream = await openStream(url, 'subscription { ticks(to: 2, everyMs: 600) }');
    stream.pause();
    await new Promise((resolve) => setTimeout(resolve, 6 * keepAlive));
    stream.resume();
    for (let count = 0; count < 5; count += 1) {
      await stream.nextComment();
    }
    expect(await stream.nextResult()).toEqual({ data: { ticks: 1 } });
    await stream.nextComment();
    stream.drop();
    await activity.whenOpen(0);
  });

  it('carries them again after its buffers were full', async () => {
    const { url, activity } = await useTransport({ timing: { keepAlive } });
    const stream = await openStream(url, 'subscription { burst(count: 400, bytes: 50000) }');
    stream.pause();
    await new Promise((resolve) => setTimeout(resolve, 6 * keepAlive));
    stream.resume();
    for (let count = 0; count < 400; count += 1) {
      await stream.nextResult();
    }
    await stream.nextComment();
    await stream.nextComment();
    stream.drop();
    await activity.whenOpen(0);
  });
});

describe('a new WebSocket', () => {
  it('has a few seconds for its connection_init and is closed with 4408 after them', async () => {
    const { url } = await useTransport({ timing: { connectionInit: 100 } });
    const socket = await rawSocket(url);
    expect(await socket.closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
  });

  it('may take most of them', async () => {
    const { url } = await useTransport({ timing: { connectionInit: 2_000 } });
    const socket = await rawSocket(url);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await socket.init()).toEqual({ type: 'connection_ack' });
    await socket.close();
  });

  it('must speak graphql-transport-ws', async () => {
    const { url } = await useTransport();
    const socket = await rawSocket(url, { protocol: null });
    expect(await socket.closed).toMatchObject({ code: 4406 });
  });

  it.each([
    ['no JSON', '{', 4400],
    ['an unknown type', '{"type":"hello"}', 4400],
    ['a subscribe without a query', '{"type":"subscribe","id":"1","payload":{}}', 4400],
    ['a second connection_init', '{"type":"connection_init"}', 4429],
    ['binary noise', '\u0000\u0001', 4400],
  ])('is closed over a breach of the protocol: %s', async (_what, message, code) => {
    const { url } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.send(message);
    expect(await socket.closed).toMatchObject({ code });
  });

  it.each([
    '{"type":"connection_ack"}',
    '{"type":"next","id":"a","payload":{}}',
    '{"type":"error","id":"a","payload":[{"message":"no"}]}',
  ])('is closed over a message that only servers send, which is no fault of ours: %s', async (message) => {
    for (const isKnown of [true, false]) {
      const { url, log } = await useTransport();
      const socket = await rawSocket(url);
      if (isKnown) {
        await socket.init();
      }
      socket.send(message);
      expect(await socket.closed).toEqual({ code: 4400, reason: 'Invalid message received' });
      expect(log.lines().filter(({ level }) => level === 'warn' || level === 'error' || level === 'fatal')).toEqual([]);
    }
  });

  it('is closed when it uses an id twice at a time', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription { silent }');
    socket.subscribe('1', 'subscription { silent }');
    expect(await socket.closed).toMatchObject({ code: 4409 });
    await activity.whenOpen(0);
  });
});
