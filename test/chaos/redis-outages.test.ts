import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chaosSeconds } from '../support/chaos-seconds.js';
import { breakFor, converse, createSessions } from '../support/conversations.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { viewOf } from '../support/oracle/view.js';
import { lastUserText } from '../support/provider.js';
import { findRedisServer, type RedisServer, startRedisServer } from '../support/redis-server.js';
import type { Replica } from '../support/replica.js';
import { paced, reply } from '../support/script.js';

const canStart = await findRedisServer();
/** Between two outages, for the servers to use Redis again. */
const everyMs = 2_000;
const outageMs = 1_500;
const sessions = 10;
/** Of the clients, on a machine with other work. */
const withinMs = chaosSeconds * 1_000 + 120_000;

describe.skipIf(!canStart)('Redis that fails under load', () => {
  let redis: RedisServer;
  let fleet: Fleet;
  let first: Replica;
  let second: Replica;
  beforeAll(async () => {
    redis = await startRedisServer();
    fleet = await startFleet({ count: 2, redisUrl: redis.url, env: { TURN_LEASE_MS: '5000' } });
    [first, second] = fleet.replicas as unknown as [Replica, Replica];
    fleet.provider.onRequest((request) =>
      paced(100, reply(`An answer to "${lastUserText(request)}", at some length.`, { chunks: 20 })),
    );
  }, 120_000);
  afterAll(async () => {
    await fleet?.close();
    await redis?.close();
  });

  const killed = async () => {
    await redis.kill();
    await sleep(outageMs);
    await redis.start();
  };
  const frozen = async () => {
    redis.freeze();
    await sleep(outageMs);
    redis.thaw();
  };
  const restarted = async () => {
    await redis.kill();
    await redis.start();
  };

  test('is not missed by those who watch on another server', { timeout: withinMs + 60_000 }, async () => {
    let outages = 0;
    const counted = (outage: () => Promise<void>) => async () => {
      outages += 1;
      await outage();
    };
    const sessionIds = await createSessions(fleet, sessions);
    const begun = performance.now();
    const [said] = await Promise.all([
      converse(fleet, {
        sessionIds,
        seconds: chaosSeconds,
        withinMs,
        teller: () => first.url,
        watched: () => second.url,
      }),
      breakFor(chaosSeconds, everyMs, [killed, frozen, restarted].map(counted)),
    ]);
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    process.stderr.write(`${said.length} turns in ${seconds} s, ${outages} outages\n`);

    expect(outages).toBeGreaterThanOrEqual(3);
    expect(said.filter(({ code }) => code !== 'OK')).toEqual([]);
    const run = await fleet.expectClean();
    expect(run.sessions.flatMap((session) => session.turns)).toHaveLength(said.length);
    const seen = fleet.recorder.watches.flatMap(({ events }) => viewOf(events).turns);
    expect(seen.filter(({ isEnded, isWhole }) => isEnded && isWhole)).toHaveLength(said.length);
    for (const replica of fleet.replicas) {
      const lines = replica.lines.filter((line) => /Redis is away|processes again/.test(line));
      // The test was about something: Redis was in use, and missed.
      expect(lines.length).toBeGreaterThanOrEqual(2);
    }
  });
});
