import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestChat, type TestChat } from '../support/chat.js';
import { prose } from '../support/histories.js';
import type { RecordedRequest } from '../support/provider.js';
import * as script from '../support/script.js';

// Field report A57: a title or a summary is asked for at each message, and stands in no bill.
let test: TestChat;
const isSummary = ({ body }: RecordedRequest) => String(body.messages[0]?.content).startsWith('You keep the notes');
beforeAll(async () => {
  test = await startTestChat({ BUDGET_MAX_TOKENS: '100000000' });
  test.provider.onRequest((request) =>
    isSummary(request) ? script.reply('They spoke of ships.', { usage: { prompt: 4_000, completion: 8 } }) : undefined,
  );
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

async function tenTurns(sessionId: string) {
  const before = test.provider.requests.length;
  for (let turn = 1; turn <= 10; turn += 1) {
    await test.chat.service.send(test.caller, { sessionId, message: `turn ${turn}: ${prose(40, turn)}` });
  }
  const requests = test.provider.requests.slice(before);
  const [sums] = await test.rows(
    `SELECT count(*)::int AS calls, sum(c.cost_usd) = s.total_cost_usd AND sum(c.cost_usd) = b.spent_cost_usd AS adds_up
     FROM model_calls c JOIN chat_sessions s ON s.id = c.session_id JOIN budgets b ON b.id = s.budget_id
     WHERE s.id = $1 GROUP BY s.id, b.id`,
    sessionId,
  );
  return { summaries: requests.filter(isSummary).length, requests: requests.length, sums };
}

it('a short conversation asks the model once a turn, and for nothing else', async () => {
  const { requests, sums } = await tenTurns(await test.createSession());
  expect(requests).toBe(10);
  expect(sums).toEqual({ calls: 10, adds_up: true });
});

it('a long one is summarised once in several turns, and that stands in the bill of the session', async () => {
  const sessionId = await test.createSession();
  const rounds = Array.from({ length: 70 }, (_, at) => [
    { role: 'USER' as const, content: `request ${at}: ${prose(90, at + 1)}` },
    { role: 'ASSISTANT' as const, content: prose(90, at + 500) },
  ]).flat();
  await test.chat.service.seedHistory(test.caller, sessionId, rounds);
  const { summaries, requests, sums } = await tenTurns(sessionId);
  expect(summaries).toBeGreaterThanOrEqual(1);
  expect(summaries).toBeLessThanOrEqual(2);
  expect(requests).toBe(10 + summaries);
  expect(sums).toEqual({ calls: requests, adds_up: true });
});
