import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import * as script from '../support/script.js';

// Found by test/chaos/one-limit-for-all: a reply that no limit had cut was let run on to all that its budget had left,
// also beyond what its model writes at most, and so into what a call beside it had reserved.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({
    MODELS: JSON.stringify({
      scripted: { contextWindow: 8_192, maxOutputTokens: 100, inputPrice: 2.5, outputPrice: 10 },
    }),
  });
  client = chatClient(app.url);
});
afterAll(() => app.close());

it('two replies at once that ignore how long their model writes stay within the limit that they share', async () => {
  const limit = 300;
  const settings = { tools: [], maxStepsPerTurn: 1 };
  const first = await client.createSession({ ...settings, budget: { maxTokens: limit, maxCostUsd: null } });
  const second = await client.createSession({ ...settings, shareBudgetOf: first });
  const both = Promise.all([app.provider.request(0), app.provider.request(1)]);
  app.provider.onRequest(() => [
    script.pause(both),
    script.paced(5, script.text('and on '.repeat(1_000), { chunks: 200 })),
    script.silence(),
  ]);
  const replies = await Promise.all([first, second].map((id) => client.send(id, 'go on')));
  expect(replies).toMatchObject([{ finishReason: 'BUDGET' }, { finishReason: 'BUDGET' }]);
  const { budget } = await client.session(first);
  expect(budget.spentTokens).toBeGreaterThan(limit / 2);
  expect(budget.spentTokens).toBeLessThanOrEqual(limit);
});

it('a reply that comes at once and is too long is used and charged as far as its budget goes', async () => {
  const sessionId = await client.createSession({ tools: [], budget: { maxTokens: 300, maxCostUsd: null } });
  app.provider.onRequest(() => [script.text('and on '.repeat(1_000)), script.silence()]);
  const { content, finishReason } = await client.send(sessionId, 'go on');
  expect(finishReason).toBe('BUDGET');
  expect(content.length).toBeGreaterThan(500);
  const { budget, modelCalls } = await client.session(sessionId);
  expect(modelCalls.nodes[0].usage).toMatchObject({ estimated: true });
  expect(modelCalls.nodes[0].usage.outputTokens).toBeGreaterThan(200);
  expect(budget.spentTokens).toBeLessThanOrEqual(300);
});

it('a reply that is longer than its model is listed with is whole, as long as its budget has more', async () => {
  const sessionId = await client.createSession();
  const long = 'and on '.repeat(3_000);
  app.provider.onRequest(() => script.reply(long, { chunks: 100, usage: { prompt: 100, completion: 6_000 } }));
  expect(await client.send(sessionId, 'go on')).toMatchObject({ content: long, finishReason: 'STOP' });
  const { budget } = await client.session(sessionId);
  expect(budget).toMatchObject({ spentTokens: 6_100, remainingTokens: 500_000 - 6_100 });
});
