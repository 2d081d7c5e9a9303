import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient } from '../support/client.js';
import { answerQuestion } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';

let app: TestApp;
let other: SecondApp;
beforeAll(async () => {
  app = await startTestApp();
  other = await startSecondApp(app);
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(async () => {
  await other.close();
  await app.close();
});

it('of many answers at once, on two servers, exactly one counts, and the model hears only that one', async () => {
  const client = chatClient(app.url);
  const sessionId = await client.createSession();
  const ask = { id: 'q1', name: 'ask_user', arguments: { question: 'Which one?', choices: ['a', 'b'] } };
  app.provider.enqueue(script.callTools([ask]), script.reply('As you wish.'));
  const waiting = await client.send(sessionId, 'choose');
  expect(waiting).toMatchObject({
    finishReason: 'INPUT_REQUIRED',
    pendingInput: { __typename: 'Question', question: 'Which one?', choices: ['a', 'b'] },
  });
  const requestId = waiting.pendingInput.id;
  const answers = ['a', 'b', 'c', 'd', 'e', 'f'];
  const results = await Promise.all(
    answers.map((answer, at) =>
      chatClient(at % 2 === 0 ? app.url : other.url).run(answerQuestion, { input: { requestId, answer } }),
    ),
  );
  const accepted = results.flatMap(({ errors }, at) => (errors ? [] : [answers[at]]));
  expect(accepted).toHaveLength(1);
  const codes = results.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions?.code) ?? []);
  expect(codes).toEqual(Array.from({ length: 5 }, () => 'INPUT_ALREADY_RESOLVED'));
  const { body } = await app.provider.request(1);
  expect(body.messages.at(-1)).toEqual({ role: 'tool', content: accepted[0], tool_call_id: 'q1' });
  // Waits until the turn has ended, so that a second request would have been seen.
  expect(await client.send(sessionId, 'next', { whenBusy: 'ENQUEUE' })).toMatchObject({ content: 'echo: next' });
  expect(app.provider.requests).toHaveLength(3);
});
