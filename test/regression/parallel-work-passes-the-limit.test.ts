import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import type { RecordedRequest } from '../support/provider.js';
import * as script from '../support/script.js';

// Field reports A52 and A53: calls that run at once each find money left and pass the limit together, because what they
// spend is noted afterwards; and in a loop of errors the limit never bites.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterEach(() => {
  expect(app.provider.violations).toEqual([]);
  app.provider.onRequest(() => undefined);
});
afterAll(() => app.close());

/** A reply of as many tokens as it may have, which honest providers end with the reason length. */
function fullReply({ body }: RecordedRequest): script.Script {
  const limit = Number(body.max_completion_tokens ?? body.max_tokens ?? 1_024);
  return [
    script.text(' word'.repeat(limit)),
    script.finish('length'),
    script.usage({ prompt: 200, completion: limit }),
  ];
}

it('ten turns at once spend no more than one budget allows, and those that get nothing are told so', async () => {
  // One call of 200 and 1,024 tokens costs 0.01074 USD.
  const maxCostUsd = 0.017;
  const first = await client.createSession({ budget: { maxCostUsd } });
  const sessions = [first];
  while (sessions.length < 10) sessions.push(await client.createSession({ shareBudgetOf: first }));
  const gate = script.gate();
  app.provider.onRequest((request) => [script.pause(gate), ...fullReply(request)]);
  const count = app.provider.requests.length;
  const sending = sessions.map((id) => client.trySend(id, 'write as much as you can'));
  await gate.reached;
  gate.open();
  const answers = await Promise.all(sending);
  const refused = answers.filter((answer) => codesOf(answer).includes('BUDGET_EXCEEDED'));
  expect(refused.length).toBeGreaterThanOrEqual(8);
  expect(refused[0]?.errors?.[0]?.extensions).toMatchObject({
    limitScope: 'SESSION',
    limitKind: 'COST',
    limit: maxCostUsd,
  });
  for (const { data, errors } of answers) {
    if (!errors) expect(['LENGTH', 'BUDGET']).toContain(data.send.finishReason);
  }
  const { budget } = await client.session(first);
  expect(budget.spentCostUsd).toBeGreaterThan(0);
  expect(budget.spentCostUsd).toBeLessThanOrEqual(maxCostUsd);
  expect(budget.remainingCostUsd).toBeCloseTo(maxCostUsd - budget.spentCostUsd, 12);
  expect(app.provider.requests.length - count).toBeLessThanOrEqual(4);
});

it('what is reserved by another turn is told apart from what is spent: it comes back without anybody raising the limit', async () => {
  const first = await client.createSession({ budget: { maxTokens: 1_200 } });
  const second = await client.createSession({ shareBudgetOf: first });
  const gate = script.gate();
  app.provider.onRequest(() => [script.pause(gate), script.reply('hi', { usage: { prompt: 40, completion: 5 } })]);
  const sending = client.send(first, 'hi');
  await gate.reached;
  const { errors } = await client.trySend(second, 'hi');
  expect(errors?.[0]).toMatchObject({
    message:
      'The budget of this session is reserved: 0 of 1200 tokens are spent and 1200 reserved by calls under way. Wait for those calls, or raise it with updateChatSession.',
    extensions: { code: 'BUDGET_EXCEEDED', retryable: true, spent: 0, held: 1_200 },
  });
  gate.open();
  await sending;
  expect(await client.send(second, 'hi')).toMatchObject({ content: 'hi' });
});

it('a loop of calls that fail ends at the limit, with one event that says which', async () => {
  const id = await client.createSession({ budget: { maxTokens: 8_000 }, maxStepsPerTurn: 100 });
  let at = 0;
  app.provider.onRequest(() => {
    at += 1;
    return script.callTools([{ id: `c${at}`, name: 'calculator', arguments: { expression: `1/0 + ${at}` } }], {
      usage: { prompt: 700, completion: 20 },
    });
  });
  const { data } = await client.run(
    'mutation ($input: SendInput!) { send(input: $input) { finishReason turn { id } } }',
    { input: { sessionId: id, message: 'divide' } },
  );
  expect(data.send.finishReason).toBe('BUDGET');
  const { budget } = await client.session(id);
  expect(budget.spentTokens).toBeLessThanOrEqual(8_000);
  expect(budget.spentTokens).toBeGreaterThan(4_000);
  const { data: traced } = await client.run(
    'query ($id: ID!) { chatSession(id: $id) { traceEvents(first: 5, types: [BUDGET_EXCEEDED]) { nodes { data } } } }',
    { id },
  );
  expect(traced.chatSession.traceEvents.nodes).toMatchObject([
    { data: { scope: 'SESSION', kind: 'TOKENS', limit: 8_000, spent: budget.spentTokens } },
  ]);
});
