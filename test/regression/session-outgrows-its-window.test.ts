import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { estimateToolTokens } from '../../src/model/tokens.js';
import { codeOf, readAll, startTestChat, type TestChat } from '../support/chat.js';
import { prose } from '../support/histories.js';
import { promptTokensOf } from '../support/prompts.js';
import type { RecordedRequest } from '../support/provider.js';
import * as script from '../support/script.js';

const contextWindow = 8192;
const maxOutputTokens = 1024;
let words = 100;
const read = defineTool({
  name: 'read',
  description: 'Reads a page.',
  parameters: z.object({ page: z.number() }),
  sideEffect: 'read',
  run: ({ page }) => prose(words * page, page + 1),
});

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({ BUDGET_MAX_TOKENS: '100000000' }, [read]);
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const room = contextWindow - maxOutputTokens;
const size = ({ body }: RecordedRequest) =>
  promptTokensOf(body.messages) +
  estimateToolTokens((body.tools as { function: never }[]).map((tool) => tool.function));
const last = () => test.provider.requests.at(-1) as RecordedRequest;

describe('a turn of many steps', () => {
  it('is shortened between its own steps, and sees what it has read last', async () => {
    const sessionId = await test.createSession({ maxStepsPerTurn: 20 });
    words = 50;
    for (let page = 1; page <= 12; page += 1) {
      const one = { name: 'read', arguments: { page } };
      test.provider.enqueue(
        script.callTools([
          { id: `a${page}`, ...one },
          { id: `b${page}`, ...one },
        ]),
      );
    }
    test.provider.enqueue(script.reply('All read.'));
    const first = test.provider.requests.length;
    const events = await readAll(
      await test.chat.service.stream(test.caller, { sessionId, message: 'read all 12 pages' }),
    );
    expect(events.at(-1)?.type).toBe('TurnCompleted');
    const requests = test.provider.requests.slice(first);
    expect(requests).toHaveLength(13);
    for (const request of requests) expect(size(request)).toBeLessThanOrEqual(room);
    const { messages } = last().body;
    expect(messages.find(({ role }) => role === 'user')?.content).toBe('read all 12 pages');
    expect(messages.slice(-2).map(({ content }) => content)).toEqual([prose(600, 13), prose(600, 13)]);
    const reports = events.flatMap((event) => (event.type === 'ContextReported' ? [event.report] : []));
    expect(reports[0]?.strategy).toBe('PASSTHROUGH');
    expect(reports.at(-1)?.messagesCompressed).toBeGreaterThan(0);
  });
});

describe('a result of a tool that is larger than the window', () => {
  it('is told in part, and the session goes on', async () => {
    const sessionId = await test.createSession();
    words = 60_000;
    test.provider.enqueue(
      script.callTools(Array.from({ length: 8 }, (_, at) => ({ id: `h${at}`, name: 'read', arguments: { page: 1 } }))),
      script.reply('That was long.'),
    );
    await test.chat.service.send(test.caller, { sessionId, message: 'read it' });
    expect(size(last())).toBeLessThanOrEqual(room);
    for (const { content } of last().body.messages.slice(-8)) expect(String(content)).toMatch(/\[cut: .*\]$/s);
    const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'thanks' });
    expect(await test.rows('SELECT status FROM turns WHERE id = $1', turnId)).toEqual([{ status: 'COMPLETED' }]);
  });

  it('does not lock a session that was brought along with it', async () => {
    const sessionId = await test.createSession();
    await test.chat.service.seedHistory(test.caller, sessionId, [
      { role: 'USER', content: 'read it' },
      { role: 'ASSISTANT', content: '', toolCalls: [{ id: 's', name: 'read', arguments: {} }] },
      { role: 'TOOL', content: prose(40_000), toolCallId: 's' },
      { role: 'ASSISTANT', content: 'It is about ships.' },
    ]);
    await test.chat.service.send(test.caller, { sessionId, message: 'what was it about?' });
    expect(size(last())).toBeLessThanOrEqual(room);
    const told = last().body.messages.map(({ content }) => content);
    expect(told).toContain('read it');
    expect(told).toContain('It is about ships.');
  });
});

describe('a message that is larger than the window', () => {
  it('ends its turn with CONTEXT_OVERFLOW, and the session can be used', async () => {
    const sessionId = await test.createSession();
    await test.chat.service.send(test.caller, { sessionId, message: 'hello' });
    const before = test.provider.requests.length;
    expect(await codeOf(test.chat.service.send(test.caller, { sessionId, message: prose(20_000) }))).toBe(
      'CONTEXT_OVERFLOW',
    );
    expect(test.provider.requests).toHaveLength(before);
    await test.chat.service.send(test.caller, { sessionId, message: 'still there?' });
    expect(size(last())).toBeLessThanOrEqual(room);
    expect(last().body.messages.at(-1)?.content).toBe('still there?');
    expect(last().body.messages.find(({ role }) => role === 'user')?.content).toBe('hello');
  });
});
