import { afterAll, beforeAll, expect, test } from 'vitest';
import { chaosSeconds } from '../support/chaos-seconds.js';
import { askAlways, breakFor, converse, createSessions } from '../support/conversations.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { lastUserText } from '../support/provider.js';
import { type RestartablePostgres, type Shutdown, startRestartablePostgres } from '../support/restartable-postgres.js';
import { paced, reply } from '../support/script.js';

const everyMs = 5_000;
const sessions = 10;
/** Of the clients, on a machine with other work. */
const withinMs = chaosSeconds * 1_000 + 120_000;

let postgres: RestartablePostgres;
let fleet: Fleet;
beforeAll(async () => {
  postgres = await startRestartablePostgres();
  fleet = await startFleet({ count: 2, database: postgres.database, env: { TURN_LEASE_MS: '5000' } });
  fleet.provider.onRequest((request) =>
    paced(100, reply(`An answer to "${lastUserText(request)}", at some length.`, { chunks: 20 })),
  );
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  await postgres?.close();
});

test('turns under load go through restarts of Postgres, fast and immediate', {
  timeout: withinMs + 60_000,
}, async () => {
  const urls = fleet.replicas.map(({ url }) => url);
  const lives = fleet.replicas.map(({ pid }) => pid);
  const asking = askAlways(urls, await fleet.client().createSession());
  const outages: number[] = [];
  const restart = (how: Shutdown) => async () => {
    outages.push(await postgres.restart(how));
  };
  const sessionIds = await createSessions(fleet, sessions);
  const begun = performance.now();
  const [said] = await Promise.all([
    converse(fleet, { sessionIds, seconds: chaosSeconds, withinMs }),
    breakFor(chaosSeconds, everyMs, [restart('fast'), restart('immediate')]),
  ]);
  const answers = await asking.stop();
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  process.stderr.write(
    `${said.length} turns in ${seconds} s, Postgres away for ${outages.join(', ')} ms, answers ${JSON.stringify([...answers])}\n`,
  );

  expect(outages.length).toBeGreaterThanOrEqual(2);
  expect(said.filter(({ code }) => code !== 'OK')).toEqual([]);
  expect([...answers.keys()].filter((answer) => answer !== 'OK' && answer !== 'UNAVAILABLE, retryable')).toEqual([]);
  const run = await fleet.expectClean();
  const stored = run.sessions.flatMap((session) => session.turns);
  expect(stored.map(({ status }) => status)).toEqual(said.map(() => 'COMPLETED'));
  expect(fleet.replicas.map(({ pid, isRunning }) => isRunning && pid)).toEqual(lives);
});
