import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/db/database.js';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import type { ChatClient } from '../../support/client.js';
import { silentLog } from '../../support/log.js';
import { signedIn } from '../../support/operator-limits.js';
import * as script from '../../support/script.js';
import { prices } from '../../support/scripted-env.js';
import { audience, issuer, secret } from '../../support/tokens.js';

const window = { contextWindow: 32_768, maxOutputTokens: 4_096 };
let app: TestApp;
let database: Database;
let ada: ChatClient;
let bob: ChatClient;
let otherAda: ChatClient;
let first: string;
let second: string;

/** A turn of 100 tokens in, 40 of them cached, and 10 out, of which 4 are reasoning; its call is moved to that time. */
async function turnAt(client: ChatClient, sessionId: string, at: string): Promise<void> {
  await client.send(sessionId, 'go');
  await database.pool.query(
    'UPDATE model_calls SET created_at = $1 WHERE id = (SELECT id FROM model_calls ORDER BY id DESC LIMIT 1)',
    [at],
  );
}

beforeAll(async () => {
  app = await startTestApp({
    AUTH_JWT_SECRET: secret,
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    MODELS: JSON.stringify({
      scripted: { ...window, ...prices },
      cheap: { ...window, inputPrice: 1, cachedInputPrice: 0.5, outputPrice: 3 },
    }),
  });
  app.provider.onRequest(() => script.reply('.', { usage: { prompt: 100, cached: 40, completion: 10, reasoning: 4 } }));
  database = await openDatabase({ url: app.database.url, poolSize: 2, log: silentLog });
  ada = await signedIn(app.url, 'ada', 'acme');
  bob = await signedIn(app.url, 'bob', 'acme');
  otherAda = await signedIn(app.url, 'ada', 'zenith');
  first = await ada.createSession();
  second = await ada.createSession({ model: 'cheap' });
  await turnAt(ada, first, '2026-03-01T00:00:00Z');
  await turnAt(ada, first, '2026-03-01T23:59:59.999Z');
  await turnAt(ada, second, '2026-03-01T12:00:00Z');
  // In Auckland that is still the second of March, in Los Angeles the first.
  await turnAt(ada, first, '2026-03-02T00:00:00Z');
  await turnAt(ada, second, '2026-03-04T00:00:00+01:00');
  await turnAt(bob, await bob.createSession(), '2026-03-01T01:00:00Z');
  await turnAt(otherAda, await otherAda.createSession(), '2026-03-01T01:00:00Z');
});
afterAll(async () => {
  await database.close();
  await app.close();
});

const march = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
const fields = 'day model calls costUsd usage { inputTokens cachedInputTokens outputTokens reasoningTokens estimated }';
const ofViewer = `query ($by: [UsageDimension!]!, $from: DateTime, $to: DateTime) {
  viewer { usageBy(by: $by, from: $from, to: $to) { ${fields} } }
}`;
const ofSession = `query ($id: ID!, $by: [UsageDimension!]!, $from: DateTime, $to: DateTime) {
  chatSession(id: $id) { usageBy(by: $by, from: $from, to: $to) { ${fields} } }
}`;
const usage = async (by: readonly string[], range: object = march, client = ada) =>
  (await client.run(ofViewer, { by, ...range })).data.viewer.usageBy;
const usageIn = async (id: string, by: readonly string[], range: object = march) =>
  (await ada.run(ofSession, { id, by, ...range })).data.chatSession.usageBy;

const day = (date: number) => new Date(Date.UTC(2026, 2, date)).toISOString();
/** So many calls of a model, with what they come to. */
const sum = (at: string | null, model: string | null, calls: number, costUsd: number) => ({
  day: at,
  model,
  calls,
  costUsd,
  usage: {
    inputTokens: calls * 100,
    cachedInputTokens: calls * 40,
    outputTokens: calls * 10,
    reasoningTokens: calls * 4,
    estimated: false,
  },
});
/** 60 × 2.5 + 40 × 1.25 + 10 × 10 and 60 × 1 + 40 × 0.5 + 10 × 3 millionths. */
const [scripted, cheap] = [0.0003, 0.00011];

describe('usage', () => {
  it('by day and model is in days of UTC from midnight to midnight, oldest first, without days of nothing', async () => {
    const both = [
      sum(day(1), 'cheap', 1, cheap),
      sum(day(1), 'scripted', 2, 2 * scripted),
      sum(day(2), 'scripted', 1, scripted),
      sum(day(3), 'cheap', 1, cheap),
    ];
    expect(await usage(['DAY', 'MODEL'])).toEqual(both);
    const { data } = await ada.run(
      `query ($from: DateTime, $to: DateTime) {
      viewer { usageBy(from: $from, to: $to) { ${fields} } }
    }`,
      march,
    );
    expect(data.viewer.usageBy).toEqual(both);
  });

  it('by day, by model and in all adds up to the same', async () => {
    expect(await usage(['DAY'])).toEqual([
      sum(day(1), null, 3, 0.00071),
      sum(day(2), null, 1, scripted),
      sum(day(3), null, 1, cheap),
    ]);
    expect(await usage(['MODEL'])).toEqual([sum(null, 'cheap', 2, 2 * cheap), sum(null, 'scripted', 3, 0.0009)]);
    expect(await usage([])).toEqual([sum(null, null, 5, 0.00112)]);
  });

  it('of a session is that of its own calls', async () => {
    expect(await usageIn(first, ['DAY'])).toEqual([sum(day(1), null, 2, 0.0006), sum(day(2), null, 1, scripted)]);
    expect(await usageIn(second, [])).toEqual([sum(null, null, 2, 2 * cheap)]);
  });

  it('of a caller is never that of another owner or tenant', async () => {
    expect(await usage(['DAY'], march, bob)).toEqual([sum(day(1), null, 1, scripted)]);
    expect(await usage(['DAY'], march, otherAda)).toEqual([sum(day(1), null, 1, scripted)]);
  });

  it('still counts the calls of a session that was deleted, and failed ones, but none that is under way', async () => {
    const id = await ada.createSession();
    const at = { from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z' };
    await turnAt(ada, id, at.from);
    app.provider.enqueue([script.httpError(400)]);
    await ada.trySend(id, 'fails');
    await database.pool.query(`UPDATE model_calls SET created_at = $1 WHERE status = 'FAILED'`, [at.from]);
    await ada.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id });
    expect(await usage([], at)).toEqual([{ ...sum(null, null, 1, scripted), calls: 2 }]);
    await database.pool.query(
      `UPDATE model_calls SET status = 'PENDING', settled_at = NULL WHERE created_at = $1 AND status = 'SUCCEEDED'`,
      [at.from],
    );
    expect(await usage([], at)).toMatchObject([{ calls: 1, costUsd: 0 }]);
  });
});

describe('the range of usage', () => {
  it('begins at from and ends before to, to the millisecond', async () => {
    const calls = async (from: string, to: string) => (await usage([], { from, to }))[0]?.calls ?? 0;
    expect(await calls('2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00Z')).toBe(1);
    expect(await calls('2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00.001Z')).toBe(2);
    expect(await calls('2026-03-02T00:00:00.001Z', '2026-03-03T00:00:00Z')).toBe(0);
    expect(await calls('2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z')).toBe(0);
    expect(await calls('2026-03-02T01:00:00+01:00', '2026-03-03T00:00:00Z')).toBe(1);
  });

  it('is the last 30 days when none is given, and the 30 days before to when only that is', async () => {
    const id = await ada.createSession();
    await ada.send(id, 'now');
    await ada.send(id, 'long ago');
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
    await database.pool.query(
      'UPDATE model_calls SET created_at = $1 WHERE id = (SELECT id FROM model_calls ORDER BY id DESC LIMIT 1)',
      [ago(30.5)],
    );
    expect(await usageIn(id, [], {})).toMatchObject([{ calls: 1 }]);
    expect(await usageIn(id, [], { from: null, to: null })).toMatchObject([{ calls: 1 }]);
    expect(await usageIn(id, [], { from: ago(32).toISOString() })).toMatchObject([{ calls: 2 }]);
    expect(await usageIn(id, [], { to: ago(1).toISOString() })).toMatchObject([{ calls: 1 }]);
    expect(await usageIn(id, [], { to: ago(2).toISOString(), from: ago(30).toISOString() })).toEqual([]);
  });

  it.each([
    ['ends before it begins', { from: '2026-03-02T00:00:00Z', to: '2026-03-01T23:59:59.999Z' }],
    ['begins in the future', { from: '2999-01-01T00:00:00Z' }],
    ['is longer than 366 days', { from: '2025-01-01T00:00:00Z', to: '2026-01-02T00:00:00.001Z' }],
  ])('is BAD_USER_INPUT when it %s', async (_what, range) => {
    expect(codesOf(await ada.run(ofViewer, { by: ['DAY'], ...range }))).toEqual(['BAD_USER_INPUT']);
    expect(codesOf(await ada.run(ofSession, { id: first, by: ['DAY'], ...range }))).toEqual(['BAD_USER_INPUT']);
  });

  it('may be 366 days long', async () => {
    expect(await usage([], { from: '2025-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' })).toMatchObject([{ calls: 4 }]);
  });
});
