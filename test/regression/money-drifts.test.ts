import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

// Field report A58: sums of floats drift, and decimals arrive as text or objects in one place and as numbers in another.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  // Ten tokens in and five out are 10 × 1 + 5 × 0.74 millionths of a dollar.
  const prices = { inputPrice: 1, outputPrice: 0.74 };
  app = await startTestApp({
    MODELS: JSON.stringify({ scripted: { contextWindow: 32_768, maxOutputTokens: 4_096, ...prices } }),
  });
  client = chatClient(app.url);
  app.provider.onRequest(() => script.reply('.', { usage: { prompt: 10, completion: 5 } }));
});
afterAll(() => app.close());

const turnCost = 0.0000137;

describe('a thousand turns of 0.0000137 USD', () => {
  it('cost 0.0137 USD exactly, by event and by query, and always as a number', async () => {
    // Added up as floats they do not: otherwise this test would show nothing.
    expect(Array.from({ length: 1000 }, () => turnCost).reduce((sum, cost) => sum + cost, 0)).not.toBe(0.0137);

    // Four sessions with one budget, each without a growing history, so that the turns are quick.
    const first = await client.createSession({ maxHistory: 0 });
    const sessions = [first];
    while (sessions.length < 4) sessions.push(await client.createSession({ maxHistory: 0, shareBudgetOf: first }));
    const quick = 'mutation ($input: SendInput!) { send(input: $input) { costUsd } }';
    await Promise.all(
      sessions.map(async (sessionId, at) => {
        // The last turn of all is streamed, below.
        for (let turn = 0; turn < (at === 0 ? 249 : 250); turn += 1) {
          const { data } = await client.run(quick, { input: { sessionId, message: '.' } });
          if (data?.send.costUsd !== turnCost) throw new Error(`a turn cost ${JSON.stringify(data)}`);
        }
      }),
    );
    const events = await openTurn(app.url, 'ws', first, '.').rest();
    const step = events.find(({ __typename }) => __typename === 'StepCompleted');
    const end = events.at(-1);
    expect(step).toMatchObject({ costUsd: turnCost, budget: { spentCostUsd: 0.0137, spentTokens: 15_000 } });
    expect(end.response).toMatchObject({ costUsd: turnCost, session: { totalCostUsd: 0.003425, turnCount: 250 } });

    const session = await client.session(first);
    expect(session).toMatchObject({ totalCostUsd: 0.003425, totalTokens: 3_750, turnCount: 250 });
    expect(session.budget).toMatchObject({ spentCostUsd: 0.0137, remainingCostUsd: 9.9863, spentTokens: 15_000 });
    expect((await client.session(sessions[3] ?? '')).totalCostUsd).toBe(0.003425);
    const { data } = await client.run('{ viewer { totalCostUsd totalTokens } }');
    expect(data.viewer).toEqual({ totalCostUsd: 0.0137, totalTokens: 15_000 });
  }, 120_000);
});

describe('money', () => {
  it('is the same number on the wire of a query, an event and an answer', async () => {
    const id = await client.createSession();
    const answer = await client.send(id, 'one');
    const events = await openTurn(app.url, 'sse', id, 'two').rest();
    const step = events.find(({ __typename }) => __typename === 'StepCompleted');
    const { totalCostUsd, budget, modelCalls } = await client.session(id);
    const amounts = [answer.costUsd, step.costUsd, events.at(-1).response.costUsd, modelCalls.nodes[1].costUsd];
    expect(amounts.map((amount) => JSON.stringify(amount))).toEqual(amounts.map(() => '0.0000137'));
    const sums = [
      totalCostUsd,
      budget.spentCostUsd,
      step.budget.spentCostUsd,
      events.at(-1).response.session.totalCostUsd,
    ];
    expect(sums.map((amount) => JSON.stringify(amount))).toEqual(sums.map(() => '0.0000274'));
  });

  it.each([0, 0.1, 0.000000000001, 123_456.789, 999_999_999.99])(
    'of a limit comes back as it was given: %d',
    async (maxCostUsd) => {
      const id = await client.createSession({ budget: { maxCostUsd } });
      const { data } = await client.run(
        'query ($id: ID!) { chatSession(id: $id) { budget { maxCostUsd remainingCostUsd spentCostUsd } } }',
        { id },
      );
      expect(data.chatSession.budget).toEqual({ maxCostUsd, remainingCostUsd: maxCostUsd, spentCostUsd: 0 });
    },
  );

  it('of three turns under a limit leaves exactly the rest, to the last digit', async () => {
    const id = await client.createSession({ budget: { maxCostUsd: 0.00411 } });
    const costly = script.reply('.', { usage: { prompt: 1_000, completion: 500 } });
    app.provider.enqueue(costly, costly, costly);
    for (const message of ['1', '2', '3']) await client.send(id, message);
    expect((await client.session(id)).budget).toMatchObject({ spentCostUsd: 0.00411, remainingCostUsd: 0 });
    const refused = await client.trySend(id, '4');
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      limit: 0.00411,
      spent: 0.00411,
    });
  });
});
