import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FailpointName } from '../../src/failpoints.js';
import { chatClient } from '../support/client.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { followTurn, sayAndFollow } from '../support/oracle/clients.js';
import { remainsOf, restartsOf } from '../support/oracle/remains.js';
import { lastUserText } from '../support/provider.js';
import type { Replica } from '../support/replica.js';
import { paced, reply } from '../support/script.js';

// So long that no server is taken for dead because the machine is busy.
const leaseMs = 5_000;

let fleet: Fleet;
let first: Replica;
let second: Replica;
let third: Replica;
beforeAll(async () => {
  fleet = await startFleet({ count: 3, env: { TURN_LEASE_MS: String(leaseMs) } });
  [first, second, third] = fleet.replicas as unknown as [Replica, Replica, Replica];
  // Longer than a flush takes to come.
  fleet.provider.onRequest((request) =>
    paced(30, reply(`An answer to "${lastUserText(request)}", at some length and with care.`, { chunks: 40 })),
  );
}, 120_000);
beforeEach(() => fleet.mend());
afterAll(() => fleet.close());

/** Sends a message to the first server, which is to die of it, and goes on with the others. */
async function sayToTheDoomed(text: string) {
  const id = await chatClient(first.url).createSession();
  const where = () => (first.isRunning ? first.url : fleet.where());
  return sayAndFollow({ ...fleet.follower(text, 'ws'), where }, id, text);
}

const cut = 'FAILED, estimated';
const whole = 'SUCCEEDED';

describe('a server that is killed right', { timeout: 120_000 }, () => {
  test.each<[FailpointName, { attempts: number; calls: string[]; requests: number }, number]>([
    ['after-accept', { attempts: 2, calls: [whole], requests: 1 }, 0],
    // The row cannot tell whether its request was made, so it is paid for.
    ['after-open-call', { attempts: 2, calls: [cut, whole], requests: 1 }, 0],
    ['after-request-sent', { attempts: 2, calls: [cut, whole], requests: 2 }, 0],
    ['after-flush', { attempts: 2, calls: [cut, whole], requests: 2 }, 1],
    ['after-settle-before-tell', { attempts: 1, calls: [whole], requests: 1 }, 0],
  ])('%s leaves a turn that another one ends', async (name, expected, leastRestarts) => {
    const text = `killed ${name}`;
    await first.arm(name);
    const turnId = await sayToTheDoomed(text);
    expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
    await followTurn(fleet.follower(`${text}, later`, 'sse'), turnId);
    await fleet.mend();
    const run = await fleet.expectClean();
    expect(remainsOf(run, text)).toEqual({ status: 'COMPLETED', epoch: expected.attempts, tools: [], ...expected });
    expect(restartsOf(run, text)).toBeGreaterThanOrEqual(leastRestarts);
  });

  test('after-claim leaves a turn that a third one ends', async () => {
    const text = 'killed after-claim';
    await third.kill();
    await first.arm('after-flush');
    await second.arm('after-claim');
    const following = sayToTheDoomed(text);
    await first.exited;
    expect(await second.exited).toMatchObject({ signal: 'SIGKILL' });
    await third.restart();
    await following;
    await fleet.mend();
    const run = await fleet.expectClean();
    // The call that the first had begun was booked by nobody before the third.
    const expected = { attempts: 3, epoch: 3, calls: [cut, whole], requests: 2, tools: [] };
    expect(remainsOf(run, text)).toEqual({ status: 'COMPLETED', ...expected });
  });

  test('after-release has handed its turn over, which is no crash', async () => {
    const text = 'killed after-release';
    await first.arm('after-release');
    const following = sayToTheDoomed(text);
    await expect.poll(() => fleet.provider.requests.map(lastUserText), { timeout: 30_000 }).toContain(text);
    first.signal('SIGTERM');
    expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
    await following;
    await fleet.mend();
    const run = await fleet.expectClean();
    const aborted = 'ABORTED, estimated';
    expect(remainsOf(run, text)).toMatchObject({ status: 'COMPLETED', attempts: 1, epoch: 2, calls: [aborted, whole] });
  });
});
