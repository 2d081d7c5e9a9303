import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fleet, startFleet } from '../support/fleet.js';
import { sayAndFollow } from '../support/oracle/clients.js';
import { lastUserText } from '../support/provider.js';
import { chaosSeed, seededRandom } from '../support/random.js';
import { paced, reply } from '../support/script.js';

const kills = 50;
const speakers = 6;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet({ count: 2, env: { TURN_LEASE_MS: '2000' } });
  fleet.provider.onRequest((request) =>
    paced(40, reply(`An answer to "${lastUserText(request)}", at some length and with care.`, { chunks: 30 })),
  );
}, 120_000);
afterAll(() => fleet.close());

test(`${kills} kills at random moments lose nothing and double nothing`, { timeout: 600_000 }, async () => {
  const random = seededRandom(chaosSeed());
  let isOver = false;
  const ids = await Promise.all(Array.from({ length: speakers }, () => fleet.client().createSession()));
  const speak = async (id: string, speaker: number) => {
    for (let at = 0; !isOver; at += 1) {
      const name = `speaker ${speaker}, message ${at}`;
      await sayAndFollow(fleet.follower(name, speaker % 2 === 0 ? 'ws' : 'sse', 300_000), id, name);
    }
  };
  const speaking = ids.map(speak);
  for (let kill = 0; kill < kills; kill += 1) {
    const victim = fleet.replicas[kill % 2];
    await sleep(random() * 1_000);
    await victim?.kill();
    await victim?.restart();
  }
  isOver = true;
  await Promise.all(speaking);
  const run = await fleet.expectClean();
  const turns = run.sessions.flatMap((session) => session.turns);
  // A turn that has lost three owners in a row is given up; every other one has its reply.
  expect(new Set(turns.map(({ status, attempts }) => (attempts > 3 ? 'given up' : status)))).toContain('COMPLETED');
  for (const { status, attempts } of turns) expect(status).toBe(attempts > 3 ? 'FAILED' : 'COMPLETED');
  expect(turns.length).toBeGreaterThan(speakers);
});
