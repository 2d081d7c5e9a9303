import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readAll, startTestChat, type TestChat } from '../../support/chat.js';
import { prose } from '../../support/histories.js';
import type { RecordedRequest } from '../../support/provider.js';
import * as script from '../../support/script.js';

const window = { contextWindow: 8192, maxOutputTokens: 1024, inputPrice: 2.5, cachedInputPrice: 1.25, outputPrice: 10 };

let test: TestChat;
const isSummary = ({ body }: RecordedRequest) => body.model === 'cheap';
beforeAll(async () => {
  const models = { scripted: window, cheap: { ...window, inputPrice: 0.1, outputPrice: 0.2 } };
  test = await startTestChat({
    MODELS: JSON.stringify(models),
    SUMMARY_MODEL: 'cheap',
    BUDGET_MAX_TOKENS: '100000000',
  });
  await test.chat.start();
  test.provider.onRequest((request) => (isSummary(request) ? [script.text('They sp'), script.silence()] : undefined));
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const rounds = Array.from({ length: 70 }, (_, at) => [
  { role: 'USER' as const, content: `request ${at}: ${prose(90, at + 1)}` },
  { role: 'ASSISTANT' as const, content: prose(90, at + 500) },
]).flat();

it('a process that dies while it has a summary made leaves a turn that goes on without one, and a call that is booked', async () => {
  const sessionId = await test.createSession();
  await test.chat.service.seedHistory(test.caller, sessionId, rounds);
  const count = test.provider.requests.length;
  const events = await test.chat.service.stream(test.caller, { sessionId, message: 'where were we?' });
  expect(isSummary(await test.provider.request(count))).toBe(true);
  await test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
  await test.another().start();

  expect((await readAll(events)).at(-1)).toMatchObject({ type: 'TurnCompleted' });
  const calls = await test.rows(
    `SELECT purpose, model, status, error_code, usage_estimated, input_tokens > 1000 AS has_prompt, cost_usd > 0 AS has_cost
     FROM model_calls WHERE session_id = $1 ORDER BY id`,
    sessionId,
  );
  expect(calls).toEqual([
    {
      purpose: 'SUMMARY',
      model: 'cheap',
      status: 'FAILED',
      error_code: 'INTERRUPTED',
      usage_estimated: true,
      has_prompt: true,
      has_cost: true,
    },
    expect.objectContaining({ purpose: 'ANSWER', status: 'SUCCEEDED' }),
  ]);
  // It is not tried again by the turn that has lost it.
  expect(test.provider.requests.slice(count).map(isSummary)).toEqual([true, false]);
  const [sums] = await test.rows(
    `SELECT s.total_cost_usd = sum(c.cost_usd) AS session, b.spent_cost_usd = sum(c.cost_usd) AS budget
     FROM chat_sessions s JOIN model_calls c ON c.session_id = s.id JOIN budgets b ON b.id = s.budget_id
     WHERE s.id = $1 GROUP BY s.id, b.id`,
    sessionId,
  );
  expect(sums).toEqual({ session: true, budget: true });
});
