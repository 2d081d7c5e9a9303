import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeOperatorBudget, setOperatorBudget } from '../../src/db/queries/operator-budgets.js';
import { moodOf } from '../support/billing-moods.js';
import { chaosRounds } from '../support/chaos-rounds.js';
import { chatClient } from '../support/client.js';
import { type Fleet, startFleet } from '../support/fleet.js';
import { limitKinds, limitRound, models, prices, type RoundLimit, tenantOfAll } from '../support/limited-sessions.js';
import { moneyProblemsAtRest } from '../support/money-at-rest.js';
import { say } from '../support/oracle/clients.js';
import { untilAtRest } from '../support/oracle/collect.js';
import { lastUserText, type RecordedRequest } from '../support/provider.js';
import { chaosSeed, seededRandom } from '../support/random.js';

const turnsAtOnce = 16;
const roundMs = 60_000;
const refused = 'told: BUDGET_EXCEEDED';

let fleet: Fleet;
let pool: Pool;
beforeAll(async () => {
  const env = { TURN_LEASE_MS: '2000', MODEL_MAX_RETRIES: '1', MODELS: JSON.stringify(models) };
  fleet = await startFleet({ count: 3, env });
  pool = new Pool({ connectionString: fleet.database.url, max: 4 });
}, 120_000);
afterAll(async () => {
  await pool?.end();
  await fleet?.close();
});

/** What is done to a turn while the provider works for it. */
interface Meddling {
  readonly sessionId: string;
  /** Its client goes away without a word. */
  readonly leave: AbortController | null;
  readonly stopAfterMs: number | null;
}

/** Stops the turns of a session, as a client that asks again while servers are down. */
async function stopAll(sessionId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const isAnswered = await chatClient(fleet.where())
      .stop(sessionId)
      .then(
        () => true,
        () => false,
      );
    if (isAnswered) return;
    await sleep(50, undefined, { signal });
  }
}

test(`${chaosRounds} rounds of ${turnsAtOnce} turns at once never pass one limit for all`, {
  timeout: chaosRounds * 30_000 + 120_000,
}, async () => {
  const seed = chaosSeed();
  const random = seededRandom(seed);
  const meddlings = new Map<string, Meddling>();
  const asked = new Map<string, number>();
  const stops: Promise<void>[] = [];
  const seen: Record<string, number> = {};
  const count = (what: string, by = 1) => {
    seen[what] = (seen[what] ?? 0) + by;
  };

  fleet.provider.onRequest((request: RecordedRequest) => {
    const said = lastUserText(request);
    const turn = Number(/^turn (\d+)/.exec(said)?.[1]);
    const nth = asked.get(said) ?? 0;
    asked.set(said, nth + 1);
    // Its own for each request, so that their order changes nothing.
    const own = seededRandom(seed + turn * 16 + nth);
    const { mood, script } = moodOf(request, models[request.body.model as keyof typeof models], own);
    count(`provider: ${mood}`);
    const { sessionId, leave, stopAfterMs } = meddlings.get(said) as Meddling;
    leave?.abort();
    if (stopAfterMs !== null || mood === 'slow') {
      const signal = AbortSignal.timeout(roundMs);
      stops.push(sleep(stopAfterMs ?? own() * 1_000).then(() => stopAll(sessionId, signal)));
    }
    return script;
  });

  /** Kills a server in the middle of the round, and starts it again. */
  const killOne = async () => {
    const victim = fleet.replicas[Math.floor(random() * fleet.replicas.length)];
    await sleep(random() * 700);
    await victim?.kill();
    await victim?.restart();
    count('kills');
  };

  /** Takes a budget away and sets it anew while calls are under way: it takes over what they have reserved. */
  const renewTenantBudget = async () => {
    await sleep(random() * 500);
    await removeOperatorBudget(pool, tenantOfAll);
    await setOperatorBudget(pool, tenantOfAll, { maxCostUsd: null });
    count('budgets set anew');
  };

  const speak = async (
    sessionId: string,
    text: string,
    afterMs: number,
    leaves: boolean,
    stopAfterMs: number | null,
  ) => {
    const leave = leaves ? new AbortController() : null;
    meddlings.set(text, { sessionId, leave, stopAfterMs });
    await sleep(afterMs);
    const options = fleet.options(roundMs);
    const signal = leave ? AbortSignal.any([options.signal, leave.signal]) : options.signal;
    try {
      const { code } = await say({ ...options, signal }, sessionId, text);
      count(`told: ${code}`);
    } catch (error) {
      if (!leave?.signal.aborted) throw error;
      count('told: nothing, as the client had left');
    }
  };

  const distances: { -readonly [kind in RoundLimit['kind']]?: number } = {};
  let tight = 0;
  for (let round = 0; round < chaosRounds; round += 1) {
    const limit = await limitRound({ pool, fleet, random, kind: limitKinds[round % limitKinds.length] }, turnsAtOnce);
    const refusedBefore = seen[refused] ?? 0;
    const firstRequest = fleet.provider.requests.length;
    const spreadMs = random() < 0.4 ? 0 : 1_500;
    const turns = limit.sessionIds.map((sessionId, at) => {
      const filler = 'more '.repeat(Math.floor(random() * 40));
      const text = `turn ${round * turnsAtOnce + at}, ${filler}of round ${round}`;
      const stopAfterMs = random() < 0.08 ? random() * 500 : null;
      return speak(sessionId, text, random() * spreadMs, random() < 0.1, stopAfterMs);
    });
    const isRenewed = !limit.kind.startsWith('TENANT') && random() < 0.3;
    await Promise.all([...turns, random() < 0.35 ? killOne() : null, isRenewed ? renewTenantBudget() : null]);
    await untilAtRest(fleet.database);
    await Promise.all(stops.splice(0));
    count('turns', turns.length);

    const requests = fleet.provider.requests.slice(firstRequest);
    const problems = await moneyProblemsAtRest(pool, limit.budgetIds, requests, prices);
    const outcome = await limit.outcome();
    expect({ round, ...limit.told, problems }).toEqual({ round, ...limit.told, problems: [] });
    count('cut by budget', outcome.cut);
    const refusals = (seen[refused] ?? 0) - refusedBefore;
    if (refusals + outcome.cut > 0) tight += 1;
    distances[limit.kind] = Math.min(distances[limit.kind] ?? Number.POSITIVE_INFINITY, outcome.left);
  }
  process.stderr.write(
    `${chaosRounds} rounds, ${tight} of them ran into the limit: ${JSON.stringify(seen)}, least that was left ${JSON.stringify(distances)}\n`,
  );

  expect(seen['told: INTERNAL']).toBeUndefined();
  expect(tight).toBeGreaterThan(chaosRounds / 2);
  await fleet.expectClean();
});
