import { describe, expect, it } from 'vitest';
import { gql } from '../../clients/http.js';
import { openStream, type RawStream } from '../../clients/sse.js';
import { type RawSocket, rawSocket, subscribe, wsClient } from '../../clients/ws.js';
import { useTransport } from '../../support/transport.js';

const many = 1_000;
/** Milliseconds of processor time, both ends together; it is 25 to 80 when nothing else runs, and quadratic work takes many seconds. */
const mostWorkMs = 1_500;
/** Milliseconds from one departure to its end, in the middle; it is 1 when nothing else runs. */
const longestMs = 100;

async function work(action: () => void, done: Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  action();
  await done;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function took(action: () => void, done: Promise<void>): Promise<number> {
  const startedAt = performance.now();
  action();
  await done;
  return performance.now() - startedAt;
}

const median = (figures: readonly number[]): number => figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? 0;

describe.each([
  ['a source that can be ended', 'subscription { silent }'],
  ['a generator that only the signal can wake', 'subscription { parked }'],
])('a client that leaves %s, without any event (A66)', (_what, query) => {
  it('by completing 1,000 subscriptions of one socket', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    for (let id = 0; id < many; id += 1) {
      socket.subscribe(String(id), query);
    }
    await activity.whenOpen(many);
    const ms = await work(() => {
      for (let id = 0; id < many; id += 1) {
        socket.complete(String(id));
      }
    }, activity.whenOpen(0));
    expect(ms).toBeLessThan(mostWorkMs);
    await socket.close();
  });

  it('by dropping a socket with 1,000 subscriptions', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    for (let id = 0; id < many; id += 1) {
      socket.subscribe(String(id), query);
    }
    await activity.whenOpen(many);
    const ms = await work(() => socket.socket.terminate(), activity.whenOpen(0));
    expect(ms).toBeLessThan(mostWorkMs);
  });

  it('by dropping 200 sockets', async () => {
    const { url, activity } = await useTransport();
    const sockets: RawSocket[] = [];
    for (let count = 0; count < 200; count += 1) {
      const socket = await rawSocket(url);
      await socket.init();
      socket.subscribe('1', query);
      sockets.push(socket);
    }
    await activity.whenOpen(200);
    const ms = await work(() => {
      for (const { socket } of sockets) {
        socket.terminate();
      }
    }, activity.whenOpen(0));
    expect(ms).toBeLessThan(mostWorkMs);
  });

  it('by dropping 1,000 event streams, a few at a time', async () => {
    const { url, activity } = await useTransport();
    const rounds: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const streams: RawStream[] = await Promise.all(Array.from({ length: 50 }, () => openStream(url, query)));
      await activity.whenOpen(50);
      const ms = await work(() => {
        for (const stream of streams) {
          stream.drop();
        }
      }, activity.whenOpen(0));
      rounds.push(ms);
    }
    expect(median(rounds)).toBeLessThan(mostWorkMs / 5);
  }, 30_000);

  it('one by one', async () => {
    const { url, activity } = await useTransport();
    const measured: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const stream = await openStream(url, query);
      await activity.whenOpen(1);
      measured.push(await took(() => stream.drop(), activity.whenOpen(0)));
    }
    const client = wsClient(url);
    const overSocket: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const subscription = subscribe(client, query);
      await activity.whenOpen(1);
      overSocket.push(await took(() => subscription.leave(), activity.whenOpen(0)));
    }
    await client.dispose();
    expect(median(measured)).toBeLessThan(longestMs);
    expect(median(overSocket)).toBeLessThan(longestMs);
  });
});

describe('a client that leaves', () => {
  it('is told from one that stayed to the end, in the log', async () => {
    const { url, log, activity } = await useTransport();
    const stream = await openStream(url, 'subscription Left { silent }');
    await activity.whenOpen(1);
    stream.drop();
    expect(await log.line(({ operation }) => operation === 'Left')).toMatchObject({ left: true, level: 'info' });
    const stayed = await openStream(url, 'subscription Stayed { ticks(to: 1) }');
    await stayed.rest();
    expect(await log.line(({ operation }) => operation === 'Stayed')).not.toHaveProperty('left');
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription LeftToo { silent }');
    await activity.whenOpen(1);
    socket.socket.terminate();
    expect(await log.line(({ operation }) => operation === 'LeftToo')).toMatchObject({ left: true, transport: 'ws' });
  });

  it('while its request is being answered leaves nothing behind', async () => {
    const { url, activity, log } = await useTransport();
    const controller = new AbortController();
    const request = gql(url, 'query Slow { slow }', undefined, { signal: controller.signal });
    await activity.slowStarted;
    controller.abort();
    await expect(request).rejects.toThrow();
    expect(await log.line(({ operation }) => operation === 'Slow')).toMatchObject({ left: true });
    activity.finishSlow('late');
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
  });

  it('before its subscription has started ends it when it does', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription { silent }');
    socket.complete('1');
    socket.subscribe('2', '{ hello }');
    await socket.receiveFor('2');
    expect(activity.open).toBe(0);
    await socket.close();
  });

  it('may use the id of an operation again that it has left', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    for (let round = 0; round < 10; round += 1) {
      socket.subscribe('same', 'subscription { silent }');
      await activity.whenOpen(1);
      socket.complete('same');
      await activity.whenOpen(0);
    }
    socket.subscribe('same', 'subscription { ticks(to: 1) }');
    expect(await socket.receiveFor('same')).toMatchObject({ type: 'next', payload: { data: { ticks: 1 } } });
    await socket.close();
  });
});

describe('a client that stops reading', () => {
  it('holds back its source and nobody else, over WebSocket', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    socket.subscribe('1', 'subscription { flood(bytes: 10000) }');
    await socket.receiveFor('1');
    socket.socket.pause();
    await settled(() => activity.pulled);
    const held = activity.pulled;
    expect(held).toBeLessThan(5_000);
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
    socket.socket.resume();
    await reached(() => activity.pulled > held + 100);
    socket.socket.terminate();
    await activity.whenOpen(0);
  });

  it('holds back its source and nobody else, over SSE', async () => {
    const { url, activity } = await useTransport();
    const stream = await openStream(url, 'subscription { flood(bytes: 10000) }');
    await stream.nextResult();
    stream.pause();
    await settled(() => activity.pulled);
    const held = activity.pulled;
    expect(held).toBeLessThan(5_000);
    expect((await gql(url, '{ hello }')).body).toEqual({ data: { hello: 'world' } });
    stream.resume();
    await reached(() => activity.pulled > held + 100);
    stream.drop();
    await activity.whenOpen(0);
  });
});

const turnOfTheLoop = () => new Promise((resolve) => setTimeout(resolve, 20));

async function reached(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await turnOfTheLoop();
  }
}

/** Resolves when a count has stood still for a while. */
async function settled(count: () => number): Promise<void> {
  let last = -1;
  for (let still = 0; still < 5; still = count() === last ? still + 1 : 0) {
    last = count();
    await turnOfTheLoop();
  }
}
