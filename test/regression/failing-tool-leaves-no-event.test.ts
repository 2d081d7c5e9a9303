import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

const circle: Record<string, unknown> = {};
circle.self = circle;

const faults: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('secret');
  },
  throws_no_error: () => {
    throw undefined;
  },
  rejects: () => Promise.reject(new Error('secret')),
  hangs: () => new Promise(() => {}),
  gives_nothing: () => undefined,
  gives_a_cycle: () => circle,
  gives_a_bigint: () => ({ n: 1n }),
  gives_5_mb: () => 'x'.repeat(5_000_000),
  gives_nul: () => 'a\0b',
};

let app: TestApp;
beforeAll(async () => {
  const tools = Object.entries(faults).map(([name, run]) =>
    defineTool({
      name,
      description: name,
      parameters: { type: 'object' },
      sideEffect: 'read',
      timeoutMs: 100,
      retries: 0,
      run,
    }),
  );
  app = await startTestApp({}, { tools });
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

it.each([
  ['throws', 'FAILED', 'TOOL_ERROR'],
  ['throws_no_error', 'FAILED', 'TOOL_ERROR'],
  ['rejects', 'FAILED', 'TOOL_ERROR'],
  ['hangs', 'FAILED', 'TIMEOUT'],
  ['gives_nothing', 'SUCCEEDED', null],
  ['gives_a_cycle', 'FAILED', 'BAD_RESULT'],
  ['gives_a_bigint', 'FAILED', 'BAD_RESULT'],
  ['gives_5_mb', 'SUCCEEDED', null],
  ['gives_nul', 'SUCCEEDED', null],
])('a tool that %s ends with its own event, and the turn with a reply', async (name, status, errorCode) => {
  const sessionId = await chatClient(app.url).createSession();
  app.provider.enqueue(script.callTools([{ id: 'c1', name, arguments: {} }]), script.reply('So be it.'));
  const events = await openTurn(app.url, 'ws', sessionId, 'go').rest();
  const told = events.filter(({ __typename }) => /^ToolCall/.test(__typename));
  expect(told.map(({ __typename }) => __typename)).toEqual(['ToolCallStarted', 'ToolCallCompleted']);
  const { toolCall } = told[1];
  expect(toolCall).toMatchObject({ id: 'c1', name, status, errorCode, durationMs: expect.any(Number) });
  expect(toolCall.result).not.toBe('');
  expect(toolCall.result.length).toBeLessThan(51_000);
  expect(JSON.stringify(events)).not.toContain('secret');
  expect(events.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: 'So be it.' } });
});
