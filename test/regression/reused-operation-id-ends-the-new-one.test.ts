import { describe, expect, it } from 'vitest';
import { type RawSocket, rawSocket } from '../clients/ws.js';
import { useTransport } from '../support/transport.js';

// A client that numbers its operations may use a number again as soon as it has left the operation that had it. The
// server was still busy with the end of the old one then, and ended the new one in its place.

const threeTicks = 'subscription { ticks(to: 3, everyMs: 5) }';
const isTick = (heard: unknown) => typeof heard === 'number' || heard === 'complete';

async function open(url: string): Promise<RawSocket> {
  const socket = await rawSocket(url);
  await socket.init();
  return socket;
}

/** What the id says up to its `complete` and to the end of the socket, without the answers of floods. */
async function heardOf(socket: RawSocket, id: string): Promise<unknown[]> {
  const heard: unknown[] = [];
  const own = async () => {
    for (let frame = await socket.receiveFor(id); frame !== null; frame = await socket.receiveFor(id)) {
      heard.push(frame.payload?.data?.ticks ?? frame.type);
    }
  };
  const all = own();
  while (!heard.includes('complete')) {
    socket.subscribe('others', '{ hello }');
    await socket.receiveFor('others');
    await socket.receiveFor('others');
  }
  await socket.close();
  await all;
  return heard.filter(isTick);
}

describe('the id of an operation that its client has just left', () => {
  it.each([
    ['a subscription', 'subscription { silent }'],
    ['a subscription that only the signal can wake', 'subscription { parked }'],
    ['a subscription with much to say', 'subscription { flood(bytes: 100) }'],
  ])('is free for another operation: %s', async (_what, query) => {
    const { url, activity } = await useTransport();
    for (let round = 0; round < 5; round += 1) {
      const socket = await open(url);
      socket.subscribe('1', query);
      await activity.whenOpen(1);
      socket.complete('1');
      socket.subscribe('1', threeTicks);
      expect(await heardOf(socket, '1')).toEqual([1, 2, 3, 'complete']);
      await activity.whenOpen(0);
    }
  });

  it('is free while the one that was left was still being set up', async () => {
    const { url, activity } = await useTransport();
    const socket = await open(url);
    for (let left = 0; left < 10; left += 1) {
      socket.subscribe('1', 'subscription { silent }');
      socket.complete('1');
    }
    socket.subscribe('1', threeTicks);
    expect(await heardOf(socket, '1')).toEqual([1, 2, 3, 'complete']);
    await activity.whenOpen(0);
  });

  it('is free while a query is being answered, whose answer is heard no more', async () => {
    const { url, activity } = await useTransport();
    const socket = await open(url);
    socket.subscribe('1', '{ slow }');
    await activity.slowStarted;
    socket.complete('1');
    socket.subscribe('1', threeTicks);
    expect((await socket.receiveFor('1'))?.payload).toEqual({ data: { ticks: 1 } });
    activity.finishSlow('late');
    expect(await heardOf(socket, '1')).toEqual([2, 3, 'complete']);
  });

  it('stays taken until then: a second operation under it is a breach of the protocol', async () => {
    const { url } = await useTransport();
    const socket = await open(url);
    socket.subscribe('1', 'subscription { silent }');
    socket.subscribe('1', threeTicks);
    expect(await socket.closed).toMatchObject({ code: 4409 });
  });
});
