import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { startTestChat, type TestChat } from '../support/chat.js';
import * as script from '../support/script.js';

// Found by trying to break it: each of a thousand calls in one reply was stored, refused, diagnosed and closed for itself,
// and a stop took longer than anybody waits.
const runs: string[] = [];
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({ key: z.string() }),
  sideEffect: 'read',
  run: ({ key }) => {
    runs.push(key);
    return key;
  },
});

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({}, [look]);
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

it('a reply with a thousand calls has the first of them run, one refused, and no trace of the rest', async () => {
  const sessionId = await test.createSession({ budget: { maxTokens: null } });
  const calls = Array.from({ length: 1_000 }, (_, at) => ({ id: `c${at}`, name: 'look', arguments: { key: `${at}` } }));
  test.provider.enqueue(script.callTools(calls), script.reply('Enough.'));
  await test.chat.service.send(test.caller, { sessionId, message: 'look everywhere' });
  expect(runs).toHaveLength(32);
  const results = test.provider.requests.at(-1)?.body.messages.filter(({ role }) => role === 'tool') ?? [];
  expect(results).toHaveLength(33);
  expect(results.at(-1)?.content).toMatch(/at most 32 tools/);
  const stored = await test.rows('SELECT status FROM tool_calls WHERE session_id = $1', sessionId);
  expect(stored).toHaveLength(33);
});

it('a question of the last step is not asked, since nobody would read its answer', async () => {
  const sessionId = await test.createSession({ maxStepsPerTurn: 1 });
  test.provider.enqueue(script.callTools([{ id: 'q', name: 'ask_user', arguments: { question: 'Which?' } }]));
  await test.chat.service.send(test.caller, { sessionId, message: 'go' });
  expect(await test.rows('SELECT id FROM input_requests WHERE session_id = $1', sessionId)).toEqual([]);
  expect(await test.rows('SELECT status, error_code FROM tool_calls WHERE session_id = $1', sessionId)).toEqual([
    { status: 'FAILED', error_code: 'NO_STEP_LEFT' },
  ]);
});
