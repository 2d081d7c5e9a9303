import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { readAll, startTestChat, type TestChat } from '../support/chat.js';
import { prose } from '../support/histories.js';
import * as script from '../support/script.js';

const read = defineTool({
  name: 'read',
  description: 'Reads a page.',
  parameters: z.object({ page: z.number() }),
  sideEffect: 'read',
  run: ({ page }) => prose(250, page + 1),
});

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({ BUDGET_MAX_TOKENS: '100000000', SUMMARY_TIMEOUT_MS: '200' }, [read]);
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const pages = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `p${from + at}`, name: 'read', arguments: { page: from + at } }));

/** A round with parallel calls of tools, as a client brings it along. */
const seeded = (round: number) => [
  { role: 'USER' as const, content: `read chapter ${round}` },
  { role: 'ASSISTANT' as const, content: '', toolCalls: pages(round * 10, 3) },
  ...pages(round * 10, 3).map(({ id }) => ({ role: 'TOOL' as const, content: prose(200, round), toolCallId: id })),
  { role: 'ASSISTANT' as const, content: `chapter ${round} is about ${prose(30, round)}` },
];

const bodyOf = (index: number) => test.provider.requests[index]?.body.messages ?? [];

describe('a window of so many messages', () => {
  it.each([2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'begins with no result of a tool, and is never empty (%i)',
    async (maxHistory) => {
      const sessionId = await test.createSession({ maxHistory, systemPrompt: 'You read books.' });
      for (let round = 1; round <= 4; round += 1) {
        test.provider.enqueue(script.callTools(pages(round * 100, 2)), script.reply(`read ${round}`));
        const from = test.provider.requests.length;
        await test.chat.service.send(test.caller, { sessionId, message: `read ${round}` });
        for (const index of [from, from + 1]) {
          const [system, first] = bodyOf(index);
          expect(system).toMatchObject({ role: 'system', content: 'You read books.' });
          expect(first?.role).not.toBe('tool');
          expect(bodyOf(index).some(({ content }) => content === `read ${round}`)).toBe(true);
        }
      }
    },
  );

  it('keeps the system prompt first and once through many turns', async () => {
    const sessionId = await test.createSession({ maxHistory: 2, systemPrompt: 'Be brief.' });
    for (let turn = 1; turn <= 30; turn += 1) {
      await test.chat.service.send(test.caller, { sessionId, message: `turn ${turn}` });
      const roles = bodyOf(test.provider.requests.length - 1).map(({ role }) => role);
      expect(roles.filter((role) => role === 'system')).toHaveLength(1);
      expect(roles[0]).toBe('system');
    }
  });
});

describe('a window of so many tokens', () => {
  it('does not part calls from their results when it is shortened right after parallel calls', async () => {
    const sessionId = await test.createSession({ systemPrompt: 'You read books.' });
    await test.chat.service.seedHistory(
      test.caller,
      sessionId,
      Array.from({ length: 12 }, (_, at) => seeded(at)).flat(),
    );
    test.provider.onRequest(({ body }) =>
      // The summary that is due here comes to nothing.
      String(body.messages[0]?.content).startsWith('You keep the notes') ? [script.httpError(500)] : undefined,
    );
    test.provider.enqueue([script.httpError(500)], script.callTools(pages(500, 4)), script.reply('done'));
    const events = await readAll(await test.chat.service.stream(test.caller, { sessionId, message: 'read more' }));
    const reports = events.flatMap((event) => (event.type === 'ContextReported' ? [event.report] : []));
    expect(reports).toHaveLength(2);
    for (const report of reports) {
      expect(report.strategy).not.toBe('PASSTHROUGH');
      expect(report.messagesCompressed).toBeGreaterThan(0);
    }
    // The task stays, and what has just been read.
    const last = bodyOf(test.provider.requests.length - 1);
    expect(last[1]?.content).toBe('read chapter 0');
    expect(last.slice(-4).map(({ tool_call_id: id }) => id)).toEqual(pages(500, 4).map(({ id }) => id));
    expect(last.slice(-4).map(({ content }) => content)).toEqual([501, 502, 503, 504].map((seed) => prose(250, seed)));
  });

  it('does so neither when a call was cut off', async () => {
    const sessionId = await test.createSession();
    await test.chat.service.seedHistory(
      test.caller,
      sessionId,
      Array.from({ length: 8 }, (_, at) => seeded(at)).flat(),
    );
    const silent = script.gate();
    test.provider.onRequest(({ body }) =>
      String(body.messages[0]?.content).startsWith('You keep the notes') ? script.reply('Notes.') : undefined,
    );
    test.provider.enqueue([script.toolCall({ id: 'x', name: 'read', arguments: '{"page": 1' }), script.pause(silent)]);
    const sending = test.chat.service.send(test.caller, { sessionId, message: 'read on' });
    await silent.reached;
    await test.chat.service.stop(test.caller, sessionId);
    await sending;
    for (const message of ['and now?', 'and then?']) await test.chat.service.send(test.caller, { sessionId, message });
    expect(bodyOf(test.provider.requests.length - 1).at(-1)?.content).toBe('and then?');
  });
});
