import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { chatClient } from '../support/client.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { followSession, sayAndFollow } from '../support/oracle/clients.js';
import { remainsOf } from '../support/oracle/remains.js';
import { lastUserText } from '../support/provider.js';
import type { Replica } from '../support/replica.js';
import { gate, paced, pause, reply, text as said } from '../support/script.js';

let fleet: Fleet;
let first: Replica;
let second: Replica;
beforeAll(async () => {
  fleet = await startFleet({ count: 2, env: { TURN_LEASE_MS: '5000' } });
  [first, second] = fleet.replicas as unknown as [Replica, Replica];
  fleet.provider.onRequest((request) =>
    paced(40, reply(`An answer to "${lastUserText(request)}", at some length.`, { chunks: 40 })),
  );
}, 120_000);
beforeEach(() => fleet.mend());
afterAll(() => fleet.close());

/** Sends to the first server as long as it is there, and goes on with the second. */
const fromFirst = (name: string) => ({
  ...fleet.follower(name, 'ws', 110_000),
  where: () => (first.isRunning ? first.url : second.url),
});

test('a server that dies with 30 turns leaves them to another, whose watchers miss nothing', async () => {
  const ids = await Promise.all(Array.from({ length: 30 }, () => chatClient(first.url).createSession()));
  const before = fleet.provider.requests.length;
  const watching = ids.map((id, at) =>
    followSession({ ...fleet.follower(`watcher ${at}`, 'sse', 110_000), where: () => second.url }, id, 1),
  );
  const speaking = ids.map((id, at) => sayAndFollow(fromFirst(`speaker ${at}`), id, `in flight ${at}`));
  await fleet.provider.request(before + 29);
  await first.kill();
  await Promise.all([...watching, ...speaking]);
  const run = await fleet.expectClean();
  const remains = ids.map((_, at) => remainsOf(run, `in flight ${at}`));
  expect(new Set(remains.map(({ status }) => status))).toEqual(new Set(['COMPLETED']));
});

test('a paused owner whose turn was taken over changes nothing when it wakes up', async () => {
  const text = 'paused';
  const id = await chatClient(first.url).createSession();
  const middle = gate();
  fleet.provider.enqueue([said('what the paused one was told'), pause(middle), reply(' and more')]);
  const before = fleet.provider.requests.length;
  const watching = followSession({ ...fleet.follower('watcher', 'sse'), where: () => second.url }, id, 1);
  const speaking = sayAndFollow(fromFirst(text), id, text);
  await middle.reached;
  await first.pause();
  await watching;
  // Its call goes on while it sleeps, so that it wakes up to an answer.
  middle.open();
  first.resume();
  await speaking;
  await fleet.provider.requests[before]?.ended;
  await first.log.waitFor('turn is not run by this process any more');
  const run = await fleet.expectClean();
  expect(remainsOf(run, text)).toMatchObject({
    status: 'COMPLETED',
    attempts: 2,
    epoch: 2,
    calls: ['FAILED, estimated', 'SUCCEEDED'],
    requests: 2,
  });
});
