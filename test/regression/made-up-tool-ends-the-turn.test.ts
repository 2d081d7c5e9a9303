import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const madeUp = script.callTools([{ id: 'c1', name: 'nope', arguments: { a: 1 } }]);

it('a tool that the model has made up is answered with the real names, and the turn goes on', async () => {
  const sessionId = await chatClient(app.url).createSession({ tools: ['calculator', 'ask_user'] });
  app.provider.enqueue(madeUp, script.reply('Then without.'));
  const events = await openTurn(app.url, 'ws', sessionId, 'use nope').rest();
  expect(events.find(({ __typename }) => __typename === 'ToolCallCompleted').toolCall).toMatchObject({
    name: 'nope',
    status: 'FAILED',
    errorCode: 'UNKNOWN_TOOL',
    result: expect.stringMatching(/^There is no tool nope\. The tools are: ask_user, calculator\.\n/),
  });
  expect(events.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: 'Then without.' } });
  const { body } = await app.provider.request(1);
  expect(body.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: expect.stringContaining('ask_user, calculator'),
  });
});

it('a model that makes it up again and again comes to an end', async () => {
  const client = chatClient(app.url);
  const sessionId = await client.createSession({ maxStepsPerTurn: 6 });
  const first = app.provider.requests.length;
  app.provider.onRequest(() => madeUp);
  expect(await client.send(sessionId, 'use nope')).toMatchObject({ finishReason: 'MAX_STEPS', toolCallsMade: 6 });
  expect(app.provider.requests.length - first).toBe(6);
});
