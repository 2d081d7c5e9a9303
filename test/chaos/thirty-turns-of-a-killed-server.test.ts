import { afterAll, beforeAll, expect, test } from 'vitest';
import { globalId } from '../../src/graphql/ids.js';
import { textOf } from '../support/client.js';
import { runSql } from '../support/database-server.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { followTurn, say } from '../support/oracle/clients.js';
import { viewOf } from '../support/oracle/view.js';
import { lastUserText } from '../support/provider.js';
import type { Replica } from '../support/replica.js';
import { gate, paced, pause, reply } from '../support/script.js';

const turns = 30;
// So long that no server is taken for dead because the machine is busy.
const leaseMs = 5_000;
const chunks = 30;
const paceMs = 100;
/** Of the clients. */
const patienceMs = 100_000;
/** For finding the lost turns, for taking them up and for telling them, on a machine with other work. */
const marginMs = 30_000;

const answerTo = (text: string) => `An answer to "${text}", at some length and with care, so that it takes its time.`;

let fleet: Fleet;
let first: Replica;
let second: Replica;
const killed = gate();
beforeAll(async () => {
  fleet = await startFleet({ count: 2, env: { TURN_LEASE_MS: String(leaseMs) } });
  [first, second] = fleet.replicas as unknown as [Replica, Replica];
  fleet.provider.onRequest((request) => {
    const steps = paced(paceMs, reply(answerTo(lastUserText(request)), { chunks }));
    // However long it takes until all are watched: none ends before its server is killed.
    return [steps.slice(0, chunks), pause(killed), steps.slice(chunks)];
  });
}, 120_000);
afterAll(() => fleet.close());

/** The running turns with the text of their messages. */
async function findTurns() {
  const { rows } = await runSql<{ id: string; text: string }>(
    fleet.database.url,
    `SELECT turns.id, content AS text FROM turns JOIN messages ON messages.id = user_message_id
     WHERE turns.status = 'RUNNING'`,
  );
  return rows.map(({ id, text }) => ({ turnId: globalId('Turn', id), text }));
}

const watched = (name: string) => fleet.recorder.watches.find((watch) => watch.name === name)?.events ?? [];

test('thirty turns of a server that is killed go on before the eyes of their watchers on another one', async () => {
  const texts = Array.from({ length: turns }, (_, index) => `question ${index + 1}`);
  const where = () => (first.isRunning ? first : second).url;
  const ids: string[] = [];
  // One after the other, so that a busy server refuses none.
  while (ids.length < turns) ids.push(await fleet.client().createSession());
  const saying = Promise.all(
    texts.map((text, index) => say({ ...fleet.options(patienceMs), where }, ids[index] ?? '', text)),
  );
  const asked = () => [...new Set(fleet.provider.requests.map(lastUserText))];
  await expect.poll(asked, { timeout: 60_000 }).toHaveLength(turns);

  let lastEnd = 0;
  const found = await findTurns();
  expect(found.map(({ text }) => text).sort()).toEqual([...texts].sort());
  const watching = found.map(async ({ turnId, text }, index) => {
    const transport = index % 2 === 0 ? 'ws' : 'sse';
    await followTurn({ ...fleet.follower(text, transport, patienceMs), where: () => second.url }, turnId);
    lastEnd = performance.now();
  });
  // They see the turns of the first server at work.
  const seeText = () => texts.filter((text) => watched(text).some(({ delta }) => delta !== undefined));
  await expect.poll(seeText, { timeout: 60_000 }).toHaveLength(turns);
  expect(await findTurns()).toHaveLength(turns);

  const killedAt = performance.now();
  await first.kill();
  killed.open();
  await Promise.all(watching);
  const tookMs = Math.round(lastEnd - killedAt);
  process.stderr.write(`from the kill to the last end that a watcher saw: ${tookMs} ms\n`);
  expect(tookMs).toBeLessThan(leaseMs + chunks * paceMs + marginMs);
  const said = await saying;
  expect(said.map(({ code }) => code)).toEqual(texts.map(() => 'OK'));
  for (const text of texts) {
    const events = watched(text);
    const [view] = viewOf(events).turns;
    expect.soft(view?.restarts, text).toBeGreaterThanOrEqual(1);
    expect.soft(textOf(view?.events ?? []), text).toBe(answerTo(text));
    expect.soft(events.at(-1)?.__typename, text).toBe('TurnCompleted');
  }
  await fleet.expectClean();
});
