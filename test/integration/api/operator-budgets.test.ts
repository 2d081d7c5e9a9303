import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/db/database.js';
import { setOperatorBudget } from '../../../src/db/queries/operator-budgets.js';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import type { ChatClient } from '../../support/client.js';
import { silentLog } from '../../support/log.js';
import { operatorBudget, signedIn, underLimit } from '../../support/operator-limits.js';
import { prices } from '../../support/scripted-env.js';
import { audience, issuer, secret } from '../../support/tokens.js';

const window = { contextWindow: 32_768, maxOutputTokens: 4_096 };
let app: TestApp;
let database: Database;
/** Two callers of one tenant, one of the same name in another tenant, and one without a tenant. */
let ada: ChatClient;
let bob: ChatClient;
let otherAda: ChatClient;
let noTenant: ChatClient;
beforeAll(async () => {
  app = await startTestApp({
    AUTH_JWT_SECRET: secret,
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    MODELS: JSON.stringify({ scripted: { ...window, ...prices }, unpriced: window }),
  });
  database = await openDatabase({ url: app.database.url, poolSize: 2, log: silentLog });
  ada = await signedIn(app.url, 'ada', 'acme');
  bob = await signedIn(app.url, 'bob', 'acme');
  otherAda = await signedIn(app.url, 'ada', 'zenith');
  noTenant = await signedIn(app.url, 'ada');
});
afterAll(async () => {
  await database.close();
  await app.close();
});

const adas = { tenant: 'acme', owner: 'ada' };
const acme = { tenant: 'acme', owner: null };
const unlimited = { budget: { maxCostUsd: null } };

const seenBy = async (client: ChatClient) =>
  (
    await client.run(`{ viewer {
      budget { ...Figures } tenantBudget { ...Figures } totalCostUsd totalTokens
    } } fragment Figures on Budget {
      scope shared maxCostUsd maxTokens spentCostUsd spentTokens remainingCostUsd remainingTokens
    }`)
  ).data.viewer;

/** How a turn is refused; null when it is not. */
async function refusalOf(client: ChatClient, sessionId: string) {
  const { errors } = await client.trySend(sessionId, 'and now?');
  return errors ? { code: errors[0]?.extensions?.code, scope: errors[0]?.extensions?.limitScope } : null;
}

describe('what a caller sees of the limits of the operator', () => {
  it('is its own and that of its tenant, and never those of anybody else', async () => {
    await underLimit(database.pool, adas, { maxCostUsd: '1.5' }, () =>
      underLimit(database.pool, { tenant: 'zenith', owner: null }, { maxTokens: 77_000 }, async () => {
        expect(await seenBy(ada)).toMatchObject({
          budget: { scope: 'OWNER', shared: true, maxCostUsd: 1.5, maxTokens: null, remainingTokens: null },
          tenantBudget: null,
        });
        expect(await seenBy(bob)).toMatchObject({ budget: null, tenantBudget: null });
        expect(await seenBy(otherAda)).toMatchObject({
          budget: null,
          tenantBudget: { scope: 'TENANT', shared: true, maxCostUsd: null, maxTokens: 77_000, remainingTokens: 77_000 },
        });
        expect(await seenBy(noTenant)).toMatchObject({ budget: null, tenantBudget: null });
      }),
    );
    expect(await seenBy(ada)).toMatchObject({ budget: null, tenantBudget: null });
  });

  it('counts what all sessions have spent, deleted ones included, to the last digit of the ledger', async () => {
    const [kept, gone] = [await ada.createSession(), await ada.createSession()];
    await ada.send(gone, 'before there is a limit');
    await underLimit(database.pool, adas, { maxCostUsd: '2' }, async () => {
      await ada.send(kept, 'one');
      await ada.send(gone, 'two');
      await ada.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id: gone });
      await ada.send(kept, 'three');
      const { rows } = await database.pool.query<{ cost: string; tokens: string; ofdeleted: string }>(
        `SELECT sum(cost_usd)::text AS cost, sum(input_tokens + output_tokens)::text AS tokens,
                count(*) FILTER (WHERE session_id IS NULL)::text AS ofdeleted
         FROM model_calls WHERE owner = 'ada' AND tenant = 'acme'`,
      );
      expect(rows[0]?.ofdeleted).toBe('2');
      expect(await operatorBudget(database.pool, adas)).toMatchObject({
        spentCostUsd: rows[0]?.cost,
        spentTokens: rows[0]?.tokens,
        heldCostUsd: '0.000000000000',
        heldTokens: '0',
      });
      const { budget, totalCostUsd, totalTokens } = await seenBy(ada);
      expect(budget).toMatchObject({ spentCostUsd: totalCostUsd, spentTokens: totalTokens });
      expect(totalCostUsd).toBe(Number(rows[0]?.cost));
    });
  });
});

describe('a limit of an owner', () => {
  it('refuses the turns of all of its sessions, of nobody else, and lets them go on when it is raised', async () => {
    const sessions = [await ada.createSession(), await ada.createSession({ budget: { maxCostUsd: 5 } })];
    await ada.send(sessions[0] ?? '', 'something to pay for');
    const others = [bob, otherAda, noTenant] as const;
    const free = await Promise.all(others.map((client) => client.createSession()));
    await underLimit(database.pool, adas, { maxTokens: 1 }, async () => {
      for (const id of [...sessions, await ada.createSession(), await ada.fork(sessions[0] ?? '')]) {
        expect(await refusalOf(ada, id)).toEqual({ code: 'BUDGET_EXCEEDED', scope: 'OWNER' });
      }
      const { errors } = await ada.trySend(sessions[0] ?? '', 'why?');
      const { spentTokens } = (await seenBy(ada)).budget;
      expect(errors?.[0]?.extensions).toMatchObject({ limitKind: 'TOKENS', limit: 1, spent: spentTokens, held: 0 });
      expect(errors?.[0]?.message).toContain('ask the operator of this server to raise it.');
      for (const [at, client] of others.entries()) expect(await refusalOf(client, free[at] ?? '')).toBeNull();
      await setOperatorBudget(database.pool, adas, { maxTokens: 1_000_000 });
      for (const id of sessions) expect(await refusalOf(ada, id)).toBeNull();
    });
  });
});

describe('a limit of a tenant', () => {
  it('refuses the turns of all of its owners and of no other tenant, and lets them go on when it is raised', async () => {
    const ofAda = await ada.createSession();
    const ofBob = await bob.createSession();
    await bob.send(ofBob, 'something to pay for');
    const others = [otherAda, noTenant] as const;
    const free = await Promise.all(others.map((client) => client.createSession()));
    await underLimit(database.pool, acme, { maxCostUsd: '0.000000000001' }, async () => {
      expect(await refusalOf(ada, ofAda)).toEqual({ code: 'BUDGET_EXCEEDED', scope: 'TENANT' });
      expect(await refusalOf(bob, ofBob)).toEqual({ code: 'BUDGET_EXCEEDED', scope: 'TENANT' });
      for (const [at, client] of others.entries()) expect(await refusalOf(client, free[at] ?? '')).toBeNull();
      await setOperatorBudget(database.pool, acme, { maxCostUsd: '10' });
      expect(await refusalOf(ada, ofAda)).toBeNull();
      expect(await refusalOf(bob, ofBob)).toBeNull();
      const spent = (await seenBy(ada)).totalCostUsd + (await seenBy(bob)).totalCostUsd;
      expect((await seenBy(bob)).tenantBudget.spentCostUsd).toBeCloseTo(spent, 12);
    });
  });

  it('that has room does not help an owner whose own is used up', async () => {
    const id = await ada.createSession();
    await underLimit(database.pool, acme, { maxCostUsd: '10' }, () =>
      underLimit(database.pool, adas, { maxCostUsd: '0' }, async () => {
        expect(await refusalOf(ada, id)).toEqual({ code: 'BUDGET_EXCEEDED', scope: 'OWNER' });
        expect(await refusalOf(bob, await bob.createSession())).toBeNull();
      }),
    );
  });
});

describe('a model without a price', () => {
  const create = 'mutation ($input: CreateChatSessionInput!) { createChatSession(input: $input) { id } }';
  const input = { model: 'unpriced', ...unlimited };
  const codeOf = async (client: ChatClient) => codesOf(await client.run(create, { input }))[0] ?? 'OK';

  it.each([
    ['owner', adas, ['MODEL_PRICE_UNKNOWN', 'OK', 'OK']],
    ['tenant', acme, ['MODEL_PRICE_UNKNOWN', 'MODEL_PRICE_UNKNOWN', 'OK']],
  ] as const)('is refused to whom a cost limit of the %s applies, and to nobody else', async (_of, holder, codes) => {
    const callers = [ada, bob, otherAda];
    const all = () => Promise.all(callers.map(codeOf));
    expect(await all()).toEqual(['OK', 'OK', 'OK']);
    await underLimit(database.pool, holder, { maxTokens: 1_000_000 }, async () => {
      expect(await all()).toEqual(['OK', 'OK', 'OK']);
      await setOperatorBudget(database.pool, holder, { maxCostUsd: '10' });
      expect(await all()).toEqual(codes);
    });
    expect(await all()).toEqual(['OK', 'OK', 'OK']);
  });

  it('is refused in a change as well, and its turns when the limit came later', async () => {
    const before = await ada.createSession(input);
    const priced = await ada.createSession(unlimited);
    await underLimit(database.pool, adas, { maxCostUsd: '10' }, async () => {
      const change = 'mutation ($input: UpdateChatSessionInput!) { updateChatSession(input: $input) { id } }';
      const changed = await ada.run(change, { input: { id: priced, model: 'unpriced' } });
      expect(codesOf(changed)).toEqual(['MODEL_PRICE_UNKNOWN']);
      expect(changed.errors?.[0]?.message).toContain('the operator has limited what you may spend');
      const requests = app.provider.requests.length;
      expect(codesOf(await ada.trySend(before, 'for free?'))).toEqual(['MODEL_PRICE_UNKNOWN']);
      expect(app.provider.requests).toHaveLength(requests);
    });
    expect((await ada.send(before, 'for free?')).finishReason).toBe('STOP');
  });
});
