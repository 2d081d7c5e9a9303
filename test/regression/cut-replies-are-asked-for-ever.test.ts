import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

// Field report A41: a reply that is cut by its length, text or the call of a tool, is asked for again without limit and
// without a word.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const cutCall = [
  script.toolCall({ id: 'c1', name: 'calculator', arguments: '{"expression":"1 + ' }),
  script.finish('length'),
  script.usage({ prompt: 5, completion: 5 }),
];
const cutText = [script.text('and on '), script.finish('length'), script.usage({ prompt: 5, completion: 5 })];

it.each([
  ['the call of a tool', cutCall, 'MAX_STEPS'],
  ['text', cutText, 'LENGTH'],
])(
  'a provider that cuts %s for ever is asked as often as the session allows, and the end says why',
  async (_what, cut, reason) => {
    const sessionId = await client.createSession({ maxStepsPerTurn: 4 });
    app.provider.onRequest(() => cut);
    const before = app.provider.requests.length;
    const events = await openTurn(app.url, 'sse', sessionId, 'go on').rest();
    expect(app.provider.requests.length - before).toBe(4);
    expect(events.at(-1)).toMatchObject({
      __typename: 'TurnCompleted',
      response: { finishReason: reason, tokensUsed: 40, turn: { status: 'COMPLETED' } },
    });
    for (const { toolCall } of events.filter(({ __typename }) => __typename === 'ToolCallCompleted')) {
      expect(toolCall).toMatchObject({
        status: 'FAILED',
        errorCode: expect.stringMatching(/^(?:INVALID_ARGUMENTS|REPEATED_CALL)$/),
      });
    }
    app.provider.onRequest(() => script.reply('Here I am.'));
    expect((await client.send(sessionId, 'still there?')).content).toBe('Here I am.');
  },
);
