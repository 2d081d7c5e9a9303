import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../support/client.js';
import { runSql } from '../support/database-server.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { followSession, readEventsCursor, say, sayAndFollow } from '../support/oracle/clients.js';
import { viewOf } from '../support/oracle/view.js';
import { lastUserText, type RecordedRequest } from '../support/provider.js';
import type { Replica } from '../support/replica.js';
import { delta, finish, gate, pause, reply, text as says, silence, usage } from '../support/script.js';

// So long that no server is taken for dead because the machine is busy.
const leaseMs = 5_000;
/** Of the clients. */
const patienceMs = 100_000;
/** For taking turns up and for letting them go, on a machine with other work. */
const marginMs = 30_000;
const count = 8;
const texts = Array.from({ length: count }, (_, index) => `question ${index + 1}`);
/** Every other answer comes to its end while the owner is paused; the rest never do. */
const endsMeanwhile = (text: string) => texts.indexOf(text) % 2 === 0;
const opening = (text: string) => `What the first owner heard of ${text}, `;
const answerTo = (text: string) => `What the second owner heard of ${text}.`;

let fleet: Fleet;
let first: Replica;
let second: Replica;
const paused = gate();
beforeAll(async () => {
  fleet = await startFleet({ count: 2, env: { TURN_LEASE_MS: String(leaseMs) } });
  [first, second] = fleet.replicas as unknown as [Replica, Replica];
  fleet.provider.onRequest((request) => {
    const text = lastUserText(request);
    if (request.index >= count) return reply(answerTo(text), { chunks: 5 });
    return [
      delta({ role: 'assistant', content: opening(text) }),
      ...(endsMeanwhile(text)
        ? [pause(paused), says('and all of it.'), finish(), usage({ prompt: 20, completion: 9 })]
        : [silence()]),
    ];
  });
}, 120_000);
afterAll(() => fleet.close());

const tables = ['budgets', 'chat_sessions', 'turns', 'messages', 'model_calls', 'trace_events'];

/** All that is stored, row by row. */
async function everyRow(): Promise<string[]> {
  const all = await Promise.all(
    tables.map((table) =>
      runSql<{ row: string }>(
        fleet.database.url,
        `SELECT '${table} ' || to_jsonb(t)::text AS row FROM "${table}" t ORDER BY id`,
      ),
    ),
  );
  return all.flatMap(({ rows }) => rows.map(({ row }) => row));
}

const watched = (name: string) => fleet.recorder.watches.find((watch) => watch.name === name);
const hasText = (name: string) => watched(name)?.events.some((event) => event.delta !== undefined);

test('an owner that was paused for two leases changes nothing when it wakes up, and lets go', async () => {
  const following = texts.map(async (text, index) => {
    const id = await fleet.client().createSession();
    const transport = index < count / 2 ? 'ws' : 'sse';
    const follower = { ...fleet.follower(`${text}, elsewhere`, transport, patienceMs), where: () => second.url };
    const from = await readEventsCursor(follower, id);
    const elsewhere = followSession(follower, { sessionId: id, from }, 1);
    const here = sayAndFollow({ ...fleet.follower(text, transport, patienceMs), where: () => first.url }, id, text);
    return { here, elsewhere: await elsewhere };
  });
  await expect.poll(() => texts.filter(hasText), { timeout: 60_000 }).toHaveLength(count);
  const doomed = fleet.provider.requests.slice(0, count) as RecordedRequest[];

  await first.pause();
  const pausedAt = performance.now();
  paused.open();
  const followed = await Promise.all(following);
  const tookMs = Math.round(performance.now() - pausedAt);
  await sleep(Math.max(0, 2 * leaseMs - tookMs));
  const before = await everyRow();
  expect(doomed.filter((request) => request.isHungUp())).toEqual([]);

  const resumedAt = performance.now();
  first.resume();
  const silent = doomed.filter((request) => !endsMeanwhile(lastUserText(request)));
  await Promise.all(silent.map(({ hungUp }) => hungUp));
  const hungUpMs = Math.round(performance.now() - resumedAt);
  await Promise.all(followed.map(({ here }) => here));
  const notOurs = () => first.lines.filter((line) => line.includes('turn is not run by this process any more'));
  await expect.poll(() => notOurs().length, { timeout: 30_000 }).toBe(count);
  process.stderr.write(`taken over and ended after ${tookMs} ms of the pause, let go ${hungUpMs} ms after it\n`);
  expect(tookMs).toBeLessThan(leaseMs + marginMs);
  expect(hungUpMs).toBeLessThan(marginMs);
  expect(await everyRow()).toEqual(before);

  for (const text of texts) {
    for (const name of [text, `${text}, elsewhere`]) {
      const [view] = viewOf(watched(name)?.events ?? []).turns;
      expect.soft({ text: textOf(view?.events ?? []), isEnded: view?.isEnded }, name).toEqual({
        text: answerTo(text),
        isEnded: true,
      });
    }
    expect.soft(viewOf(watched(text)?.events ?? []).turns[0]?.restarts, text).toBe(1);
    expect.soft(watched(text)?.isComplete, text).toBe(true);
  }
  // It is as good as any other server again.
  const id = await fleet.client().createSession();
  expect(await say({ ...fleet.options(), where: () => first.url }, id, 'one more')).toMatchObject({ code: 'OK' });
  const run = await fleet.expectClean();
  const turns = run.sessions.flatMap((session) => session.turns);
  expect(turns.map(({ epoch, attempts, status }) => `${epoch} ${attempts} ${status}`).sort()).toEqual(
    [...texts.map(() => '2 2 COMPLETED'), '1 1 COMPLETED'].sort(),
  );
});
