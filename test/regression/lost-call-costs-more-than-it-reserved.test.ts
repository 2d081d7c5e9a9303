import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestChat, type TestChat } from '../support/chat.js';
import * as script from '../support/script.js';

// The estimate for a call whose process was lost was made of all the text that was stored of it. That may be a little
// more than its limit, which is counted with some tolerance, and so more than was reserved.
let test: TestChat;
beforeAll(async () => {
  const prices = { inputPrice: 2.5, outputPrice: 10 };
  test = await startTestChat({
    MODELS: JSON.stringify({ scripted: { contextWindow: 32_768, maxOutputTokens: 2_000, ...prices } }),
  });
  await test.chat.start();
});
afterAll(() => test.close());

it('a call that is lost at the very end of its reply is estimated at no more than it has reserved', async () => {
  const sessionId = await test.createSession();
  test.provider.enqueue([script.text(Array(2_035).fill('word').join(' '), { chunks: 5 }), script.silence()]);
  await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
  await vi.waitUntil(async () => {
    await test.chat.service.flush(sessionId);
    const [reply] = await test.rows(
      `SELECT length(content) AS length FROM messages WHERE session_id = $1 AND role = 'ASSISTANT'`,
      sessionId,
    );
    return reply?.length === 2_035 * 5 - 1;
  });
  test.provider.enqueue(script.reply('a whole reply'));
  await test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
  await test.another().start();
  const callsOf = () =>
    test.rows(
      `SELECT status, usage_estimated AS estimated, output_tokens::int AS output, cost_usd <= held_cost_usd AS within
       FROM model_calls WHERE session_id = $1 AND status <> 'PENDING' ORDER BY id`,
      sessionId,
    );
  await vi.waitUntil(async () => (await callsOf()).length === 2);
  expect(await callsOf()).toEqual([
    { status: 'FAILED', estimated: true, output: 2_000, within: true },
    { status: 'SUCCEEDED', estimated: false, output: 5, within: true },
  ]);
});
