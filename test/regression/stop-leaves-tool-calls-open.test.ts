import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

/** Reads that take this long, unless they are aborted. */
const waiting = (name: string, ms: number, aborts: boolean) =>
  defineTool({
    name,
    description: `Takes ${ms} ms.`,
    parameters: z.object({}),
    sideEffect: 'read',
    run: (_args, { signal }) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => resolve(`after ${ms} ms`), ms);
        if (!aborts) return;
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      }),
  });

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp(
    {},
    { tools: [waiting('quick', 10, true), waiting('slow', 20_000, true), waiting('deaf', 4_000, false)] },
  );
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const call = (name: string) => ({ id: `call_${name}`, name, arguments: {} });

it.each([
  ['one slow call', ['slow'], 0],
  ['several calls of which some are done', ['quick', 'slow', 'deaf'], 1],
])('a turn that is stopped during %s leaves a history that the provider takes', async (_case, names, done) => {
  const client = chatClient(app.url);
  const sessionId = await client.createSession();
  app.provider.enqueue(script.callTools(names.map(call)));
  const events = openTurn(app.url, 'ws', sessionId, 'look everywhere');
  let left = names.length;
  await events.until(({ __typename }) => __typename === 'ToolCallStarted' && --left === 0);
  for (let n = 0; n < done; n += 1) await events.until(({ __typename }) => __typename === 'ToolCallCompleted');
  expect(await client.stop(sessionId)).toMatchObject({ status: 'STOPPED' });
  const rest = await events.rest();
  expect(rest.map(({ __typename }) => __typename)).toEqual([
    ...names.slice(done).map(() => 'ToolCallCompleted'),
    'TurnStopped',
  ]);
  for (const { toolCall } of rest.slice(0, -1)) {
    expect(toolCall).toMatchObject({
      status: 'INTERRUPTED',
      errorCode: 'STOPPED',
      result: expect.stringContaining('stopped'),
    });
  }
  const first = app.provider.requests.length;
  expect(await client.send(sessionId, 'and now?')).toMatchObject({ content: 'echo: and now?' });
  const { body } = await app.provider.request(first);
  const answered = body.messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id);
  expect(answered).toEqual(names.map((name) => `call_${name}`));
});
