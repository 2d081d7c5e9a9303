import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { estimatePromptTokens, estimateToolTokens } from '../../../src/model/tokens.js';
import { startTestChat, type TestChat } from '../../support/chat.js';
import { prose } from '../../support/histories.js';
import type { RecordedRequest } from '../../support/provider.js';
import * as script from '../../support/script.js';

const window = { contextWindow: 8192, maxOutputTokens: 1024, inputPrice: 2.5, cachedInputPrice: 1.25, outputPrice: 10 };
const rounds = 300;
/** The first words of the prompt that asks for a summary. */
const isSummary = ({ body }: RecordedRequest) => body.model === 'cheap';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({
    MODELS: JSON.stringify({ scripted: window, cheap: { ...window, inputPrice: 0.1, outputPrice: 0.2 } }),
    SUMMARY_MODEL: 'cheap',
    BUDGET_MAX_TOKENS: '100000000',
  });
  test.provider.onRequest((request) =>
    isSummary(request)
      ? script.reply(`Notes ${request.index}: the harbour, the ferry, the tickets.`, {
          usage: { prompt: 900, completion: 30 },
        })
      : script.reply(`Answer ${request.index}: ${prose(70, request.index + 1)}`, {
          usage: { prompt: 700, completion: 90 },
        }),
  );
});
afterAll(() => test.close());

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

describe('a session of 300 rounds with a window of 8,192 tokens', () => {
  it('fits every time, is seldom summarised, keeps its beginning and its end, and does not become slower', async () => {
    const sessionId = await test.createSession({ systemPrompt: 'You sell ferry tickets.' });
    const said: string[] = [];
    const times: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const message = `Request ${round}: ${prose(50, round)}`;
      said.push(message);
      const before = performance.now();
      await test.chat.service.send(test.caller, { sessionId, message });
      times.push(performance.now() - before);
    }
    const answers = test.provider.requests.filter((request) => !isSummary(request));
    const summaries = test.provider.requests.filter(isSummary);
    expect(test.provider.violations).toEqual([]);
    expect(answers).toHaveLength(rounds);
    for (const [at, { body }] of answers.entries()) {
      const texts = body.messages.map(({ content }) => String(content));
      const tools = estimateToolTokens((body.tools as { function: never }[]).map((tool) => tool.function));
      const messages = texts.map((content) => ({ role: 'system' as const, content }));
      expect(estimatePromptTokens(messages) + tools).toBeLessThanOrEqual(8192 - 1024);
      expect(texts[0]).toBe('You sell ferry tickets.');
      expect(texts[1]).toBe(said[0]);
      const recent = said.slice(Math.max(0, at - 2), at + 1);
      expect(texts.filter((text) => recent.includes(text))).toEqual(recent);
    }
    // At most one in several turns: between two of them lie at least four, and in truth many more.
    const places = summaries.map(({ index }) => index);
    places.forEach((place, at) => {
      if (at > 0) expect(place - (places[at - 1] ?? 0)).toBeGreaterThanOrEqual(5);
    });
    expect(summaries.length).toBeLessThan(rounds / 10);
    expect(summaries.length).toBeGreaterThan(2);
    // Each tells on from the one before.
    expect(String(summaries[1]?.body.messages[1]?.content)).toContain(`Notes ${places[0]}:`);
    expect(String(answers.at(-1)?.body.messages[2]?.content)).toContain(`Notes ${places.at(-1)}:`);
    // Room for a machine that is busy with something else.
    const early = median(times.slice(60, 120));
    const late = median(times.slice(240));
    expect(late).toBeLessThan(early * 2 + 10);
    expect(
      await test.rows(
        `SELECT purpose, model, count(*)::int AS calls, sum(cost_usd)::text AS cost FROM model_calls
         WHERE session_id = $1 AND status = 'SUCCEEDED' GROUP BY purpose, model ORDER BY purpose`,
        sessionId,
      ),
    ).toMatchObject([
      { purpose: 'ANSWER', model: 'scripted', calls: rounds },
      { purpose: 'SUMMARY', model: 'cheap', calls: summaries.length },
    ]);
    expect(
      await test.rows(
        `SELECT s.total_cost_usd = (SELECT sum(cost_usd) FROM model_calls c WHERE c.session_id = s.id) AS agree
         FROM chat_sessions s WHERE id = $1`,
        sessionId,
      ),
    ).toEqual([{ agree: true }]);
  }, 120_000);
});
