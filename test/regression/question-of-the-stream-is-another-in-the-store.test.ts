import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, openTurn } from '../support/client.js';
import { answerQuestion, decideApproval, submitToolResult } from '../support/documents.js';
import * as script from '../support/script.js';

let app: TestApp;
let url: string;
beforeAll(async () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object' },
    sideEffect: 'write',
    requiresApproval: true,
    run: () => 'paid',
  });
  app = await startTestApp({}, { tools: [pay] });
  url = app.url;
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const clientTools = [{ name: 'locate', description: 'Locates.', parameters: { type: 'object' } }];

it.each([
  ['a question', 'ask_user', { question: 'Sure?' }, answerQuestion, { answer: 'yes' }, 'yes'],
  ['an approval', 'pay', {}, decideApproval, { approved: true }, 'paid'],
  ['a call of a client tool', 'locate', {}, submitToolResult, { result: 'Rome' }, 'Rome'],
])(
  'a %s is the same live, in the reply of send and read after a restart, and is answered by that id',
  async (...row) => {
    const [, name, args, mutation, answer, told] = row;
    const sessionId = await chatClient(url).createSession({ clientTools });
    const first = app.provider.requests.length;
    app.provider.enqueue(script.callTools([{ id: 'c1', name, arguments: args }]), script.reply('Good.'));
    const clientMessageId = `of ${name}`;
    const turn = openTurn(url, 'ws', sessionId, 'go', { clientMessageId });
    const live = (await turn.until(({ __typename }) => __typename === 'InputRequested')).request;
    turn.leave();
    const sent = await chatClient(url).send(sessionId, 'go', { clientMessageId });
    expect(sent.pendingInput).toEqual(live);
    ({ url } = await app.restart());
    const client = chatClient(url);
    expect((await client.session(sessionId)).pendingInput).toEqual(live);
    const { errors } = await client.run(mutation, { input: { requestId: live.id, ...answer } });
    expect(errors).toBeUndefined();
    const { body } = await app.provider.request(first + 1);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: told });
  },
);
