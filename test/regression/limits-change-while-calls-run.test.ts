import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, readAll, startTestChat, type TestChat } from '../support/chat.js';
import { failingOnce } from '../support/failing-statement.js';
import * as script from '../support/script.js';

// Found by trying to break it: what is decided when a call is opened was taken for true until its end, and what a
// statement had seen for true until its commit.
let test: TestChat;
beforeAll(async () => {
  const prices = { inputPrice: 1, outputPrice: 10 };
  test = await startTestChat({
    MODELS: JSON.stringify({ scripted: { contextWindow: 8_192, maxOutputTokens: 100, ...prices } }),
  });
  await test.chat.start();
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const long = (words: number) => script.paced(1, script.text('and on '.repeat(words), { chunks: 60 }));
const spentOf = async (sessionId: string) => {
  const [row] = await test.rows(
    `SELECT b.spent_tokens::int AS tokens, b.held_tokens::int AS held, b.spent_cost_usd::float AS cost
     FROM chat_sessions s JOIN budgets b ON b.id = s.budget_id WHERE s.id = $1`,
    sessionId,
  );
  return row as { tokens: number; held: number; cost: number };
};

it('a limit that is set while an unlimited reply runs ends it', async () => {
  const sessionId = await test.createSession({ tools: [], budget: { maxCostUsd: null, maxTokens: null } });
  const gate = script.gate();
  test.provider.enqueue([script.text('so '), script.pause(gate), long(3_000), script.finish('stop')]);
  const events = await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
  await gate.reached;
  await test.chat.service.updateSession(test.caller, { id: sessionId, budget: { maxTokens: 1_000 } });
  gate.open();
  expect((await readAll(events)).at(-1)).toMatchObject({
    type: 'TurnCompleted',
    reached: { scope: 'SESSION', kind: 'TOKENS', limit: 1_000 },
  });
  expect(await spentOf(sessionId)).toMatchObject({ held: 0 });
  expect((await spentOf(sessionId)).tokens).toBeLessThanOrEqual(1_000);
});

it('a call that is lost is booked by what it had reserved, though its session has another prompt by now', async () => {
  const sessionId = await test.createSession({ tools: [], budget: { maxTokens: 400, maxCostUsd: null } });
  const gate = script.gate();
  test.provider.enqueue([script.text('x'), script.pause(gate), script.silence()]);
  const events = await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
  await gate.reached;
  await test.chat.service.updateSession(test.caller, { id: sessionId, systemPrompt: 'Mind this. '.repeat(1_500) });
  await test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
  await test.another().start();
  await readAll(events);
  const { tokens, held } = await spentOf(sessionId);
  expect(tokens).toBeGreaterThan(0);
  expect(tokens).toBeLessThanOrEqual(400);
  expect(held).toBe(0);
});

it('a turn out of the queue that finds nothing left says which limit that is', async () => {
  const sessionId = await test.createSession({ budget: { maxTokens: 300 } });
  const gate = script.gate();
  test.provider.enqueue([
    script.text('done'),
    script.pause(gate),
    script.finish('stop'),
    script.usage({ prompt: 290, completion: 10 }),
  ]);
  const sending = test.chat.service.send(test.caller, { sessionId, message: 'first' });
  await gate.reached;
  const queued = await test.chat.service.stream(test.caller, { sessionId, message: 'next', whenBusy: 'ENQUEUE' });
  gate.open();
  await sending;
  expect((await readAll(queued)).at(-1)).toMatchObject({
    type: 'TurnFailed',
    code: 'BUDGET_EXCEEDED',
    reached: { scope: 'SESSION', kind: 'TOKENS', limit: 300, spent: 300 },
  });
});

describe.each(['refused', 'answer lost'] as const)('a reply for which more has to be reserved, with that %s', (how) => {
  it('is whole where its budget has room, and leaves nothing reserved', async () => {
    const failing = failingOnce(test.database, 'extend-hold', how);
    const { service } = test.another({ database: failing.database });
    const sessionId = await test.createSession({ tools: [], budget: { maxTokens: 1_500, maxCostUsd: null } });
    test.provider.enqueue([long(450), script.finish('stop'), script.usage({ prompt: 20, completion: 900 })]);
    const { turnId } = await service.send(test.caller, { sessionId, message: 'go' });
    expect(failing.hasFailed()).toBe(true);
    expect(await test.rows('SELECT finish_reason FROM turns WHERE id = $1', turnId)).toEqual([
      { finish_reason: 'STOP' },
    ]);
    expect(await spentOf(sessionId)).toMatchObject({ tokens: 920, held: 0 });
  });
});

describe('sessions that share a budget', () => {
  it('take it with them when all are deleted at once', async () => {
    const other = test.another();
    for (let round = 0; round < 30; round += 1) {
      const first = await test.createSession();
      const second = await test.createSession({ shareBudgetOf: first });
      const [{ budget_id: budgetId }] = await test.rows('SELECT budget_id FROM chat_sessions WHERE id = $1', first);
      await Promise.all([
        test.chat.service.deleteSession(test.caller, first),
        other.service.deleteSession(test.caller, second),
      ]);
      expect(await test.rows('SELECT id FROM budgets WHERE id = $1', budgetId)).toEqual([]);
    }
  });

  it('come to be, or are refused as without the other one, when that is deleted meanwhile', async () => {
    const other = test.another();
    const codes = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      const first = await test.createSession();
      const creating = Array.from({ length: 3 }, async (_, at) => {
        await sleep((round + at) % 3);
        return codeOf(other.service.createSession(test.caller, { shareBudgetOf: first }));
      });
      const deleting = sleep(round % 2).then(() => test.chat.service.deleteSession(test.caller, first));
      for (const code of await Promise.all(creating)) codes.add(code);
      await deleting;
    }
    expect([...codes].filter((code) => code !== 'OK' && code !== 'NOT_FOUND')).toEqual([]);
  }, 60_000);
});
