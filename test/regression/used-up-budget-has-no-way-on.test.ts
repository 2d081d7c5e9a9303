import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents } from '../support/client.js';
import * as script from '../support/script.js';

// Field reports A54 and A55: a budget is taken and not kept, or its end is reported as a fault and nothing helps. And the
// reply that nobody bounds: its provider ignores what it may write.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const raise = (id: string, budget: unknown) =>
  client.run('mutation ($input: UpdateChatSessionInput!) { updateChatSession(input: $input) { id } }', {
    input: { id, budget },
  });
const costly = script.reply('Well.', { usage: { prompt: 600, completion: 400 } });

describe('a budget', () => {
  it('that is used up refuses with its figures, and lets go on once it is raised', async () => {
    const id = await client.createSession({ budget: { maxTokens: 1_000 } });
    app.provider.enqueue(costly);
    await client.send(id, 'one');
    const refused = await client.trySend(id, 'two');
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      limitScope: 'SESSION',
      limitKind: 'TOKENS',
      limit: 1_000,
      spent: 1_000,
      held: 0,
    });
    expect((await client.session(id)).messageCount).toBe(2);
    await raise(id, { maxTokens: 10_000 });
    expect(await client.send(id, 'two')).toMatchObject({ content: 'echo: two', finishReason: 'STOP' });
  });

  it('of which too little is left for a call ends the turn before it, and tells what it needed', async () => {
    const id = await client.createSession({ budget: { maxTokens: 1_100 } });
    app.provider.enqueue(costly);
    await client.send(id, 'one');
    const count = app.provider.requests.length;
    const failed = await client.trySend(id, 'two');
    expect(failed.errors?.[0]?.extensions).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      turnId: expect.any(String),
      retryable: false,
      limit: 1_100,
      spent: 1_000,
      needed: expect.any(Number),
    });
    expect(failed.errors?.[0]?.message).toMatch(
      /^The budget of this session is not enough: 1000 of 1100 tokens are spent, and this call needs at least \d+\. To go on, raise it/,
    );
    expect(app.provider.requests).toHaveLength(count);
    await raise(id, { maxTokens: null });
    expect(await client.regenerate(id)).toMatchObject({ content: 'echo: two' });
  });

  it('that ends in the middle of a turn keeps what was said, as a reply with the reason BUDGET', async () => {
    const id = await client.createSession({ budget: { maxTokens: 1_500 } });
    const call = { id: 'c1', name: 'calculator', arguments: { expression: '1+1' } };
    app.provider.enqueue(script.callTools([call], { content: 'Let me see.', usage: { prompt: 800, completion: 400 } }));
    const events = await openEvents(
      app.url,
      'ws',
      `subscription ($input: StreamInput!) { stream(input: $input) {
        __typename
        ... on StepCompleted { budget { remainingTokens } }
        ... on TurnCompleted { reachedLimit { scope kind limit spent held needed } response { content finishReason } }
      } }`,
      { input: { sessionId: id, message: 'add' } },
    ).rest();
    expect(events.find(({ __typename }) => __typename === 'StepCompleted')).toMatchObject({
      budget: { remainingTokens: 300 },
    });
    expect(events.at(-1)).toMatchObject({
      __typename: 'TurnCompleted',
      reachedLimit: { scope: 'SESSION', kind: 'TOKENS', limit: 1_500, spent: 1_200, held: 0 },
      response: { content: 'Let me see.', finishReason: 'BUDGET' },
    });
    const { data } = await client.run(
      'query ($id: ID!) { chatSession(id: $id) { turns(first: 1) { nodes { reachedLimit { kind spent } } } } }',
      { id },
    );
    expect(data.chatSession.turns.nodes).toEqual([{ reachedLimit: { kind: 'TOKENS', spent: 1_200 } }]);
    await raise(id, { maxTokens: 10_000 });
    expect(await client.send(id, 'and now?')).toMatchObject({ finishReason: 'STOP' });
  });

  it('cuts a reply whose provider ignores what it may write, and the rest is not charged', async () => {
    const id = await client.createSession({ tools: [], budget: { maxTokens: 200 } });
    const count = app.provider.requests.length;
    app.provider.enqueue([...Array.from({ length: 2_000 }, () => script.text(' word')), script.silence()]);
    const reply = await client.send(id, 'go on and on');
    const { body, hungUp } = await app.provider.request(count);
    await hungUp;
    const cap = Number(body.max_completion_tokens ?? body.max_tokens);
    expect(cap).toBeLessThan(200);
    expect(reply).toMatchObject({ finishReason: 'BUDGET', message: { status: 'PARTIAL' } });
    const words = reply.content.split(' ').length;
    expect(words).toBeGreaterThan(cap * 0.9);
    expect(words).toBeLessThan(cap * 1.1);
    const { budget } = await client.session(id);
    expect(budget.spentTokens).toBeLessThanOrEqual(200);
    expect(codesOf(await client.trySend(id, 'more'))).toEqual(['BUDGET_EXCEEDED']);
  });

  it.each([
    ['a negative cost', { maxCostUsd: -1 }],
    ['a negative number of tokens', { maxTokens: -1 }],
    ['a part of a token', { maxTokens: 1.5 }],
    ['less than can be booked', { maxCostUsd: 1e-13 }],
  ])('of %s is refused', async (_what, budget) => {
    const { errors } = await client.run(
      'mutation ($input: CreateChatSessionInput!) { createChatSession(input: $input) { id } }',
      { input: { budget } },
    );
    expect(errors).toBeDefined();
  });

  it.each([
    ['no money', { maxCostUsd: 0 }],
    ['no tokens', { maxTokens: 0 }],
    ['a millionth of a dollar', { maxCostUsd: 0.000001 }],
    ['one token', { maxTokens: 1 }],
  ])('of %s lets no call be made', async (_what, budget) => {
    const count = app.provider.requests.length;
    const id = await client.createSession({ budget });
    expect(codesOf(await client.trySend(id, 'hello'))).toEqual(['BUDGET_EXCEEDED']);
    expect(app.provider.requests).toHaveLength(count);
  });

  it('without limits, or with huge ones, stands in nobody’s way', async () => {
    for (const budget of [
      { maxCostUsd: null, maxTokens: null },
      { maxCostUsd: 1e9, maxTokens: Number.MAX_SAFE_INTEGER },
    ]) {
      const id = await client.createSession({ budget });
      expect(await client.send(id, 'hello')).toMatchObject({ content: 'echo: hello' });
    }
  });
});
