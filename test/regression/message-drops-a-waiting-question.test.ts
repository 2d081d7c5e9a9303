import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient } from '../support/client.js';
import { answerQuestion } from '../support/documents.js';
import * as script from '../support/script.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

async function startWaiting() {
  const client = chatClient(app.url);
  const sessionId = await client.createSession();
  app.provider.enqueue(script.callTools([{ id: 'q1', name: 'ask_user', arguments: { question: 'Sure?' } }]));
  const { pendingInput, turn } = await client.send(sessionId, 'delete it');
  return { client, sessionId, requestId: pendingInput.id as string, turnId: turn.id as string };
}

it('a message is refused while a question waits, and the refusal names the question', async () => {
  const { client, sessionId, requestId, turnId } = await startWaiting();
  const refused = await client.trySend(sessionId, 'what about this?', { clientMessageId: 'm1' });
  expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'INPUT_PENDING', turnId, requestId });
  expect(await client.session(sessionId)).toMatchObject({
    turnCount: 1,
    pendingInput: { id: requestId, question: 'Sure?' },
  });
  app.provider.enqueue(script.reply('Deleted.'));
  const answered = await client.run(answerQuestion, { input: { requestId, answer: 'yes' } });
  expect(answered.data.answerQuestion).toMatchObject({ id: turnId });
});

it('a message that interrupts closes the question before its own turn begins', async () => {
  const { client, sessionId, requestId } = await startWaiting();
  const first = app.provider.requests.length;
  expect(await client.send(sessionId, 'forget it', { whenBusy: 'INTERRUPT' })).toMatchObject({
    content: 'echo: forget it',
  });
  const { body } = await app.provider.request(first);
  expect(body.messages.slice(-2)).toMatchObject([
    { role: 'tool', tool_call_id: 'q1', content: expect.stringContaining('stopped') },
    { role: 'user', content: 'forget it' },
  ]);
  const late = await client.run(answerQuestion, { input: { requestId, answer: 'yes' } });
  expect(late.errors?.[0]?.extensions?.code).toBe('INPUT_ALREADY_RESOLVED');
  expect((await client.session(sessionId)).pendingInput).toBeNull();
});
