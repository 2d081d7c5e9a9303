import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestChat, type TestChat } from '../support/chat.js';
import * as script from '../support/script.js';

// Found by trying to break it: a whole answer was lost because the step that the server itself added to check it, or to
// go on with it, came to nothing. The kind: what was there is taken away by what was to make it better.
let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({ MODEL_MAX_RETRIES: '0' });
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const draft = [
  script.thinking('It is 4. Let me verify this.'),
  script.text('The answer is 4.'),
  script.finish('stop'),
  script.usage({ prompt: 5, completion: 5 }),
];

const turnOf = async (sessionId: string) =>
  (
    await test.rows(
      `SELECT t.status, t.finish_reason, m.content, m.status AS message FROM turns t LEFT JOIN messages m ON m.id = t.final_message_id
       WHERE t.session_id = $1`,
      sessionId,
    )
  )[0];

it.each<[string, script.Script]>([
  ['fails', [script.httpError(500)]],
  ['is refused', [script.httpError(400)]],
  ['says nothing', [script.finish('stop')]],
  ['breaks off before a word', [script.cutConnection]],
])('an answer stands when the step that checks it %s', async (_how, check) => {
  const sessionId = await test.createSession();
  test.provider.enqueue(draft, check);
  await test.chat.service.send(test.caller, { sessionId, message: 'what is 2+2?' });
  expect(await turnOf(sessionId)).toEqual({
    status: 'COMPLETED',
    finish_reason: 'STOP',
    content: 'The answer is 4.',
    message: 'COMPLETE',
  });
});

it('a reply that outgrows the window of its model ends by its length, with all that was written', async () => {
  const sessionId = await test.createSession({ budget: { maxTokens: null } });
  const words = Array.from({ length: 1_000 }, (_, at) => `word${at % 10}`).join(' ');
  const part = [script.text(`${words} `), script.finish('length'), script.usage({ prompt: 10, completion: 1_000 })];
  test.provider.onRequest(() => part);
  await test.chat.service.send(test.caller, { sessionId, message: 'write much' });
  test.provider.onRequest(() => undefined);
  const { content, ...turn } = await turnOf(sessionId);
  expect(turn).toEqual({ status: 'COMPLETED', finish_reason: 'LENGTH', message: 'PARTIAL' });
  expect(content.length).toBeGreaterThan(2 * words.length);
  expect(content).toBe(`${words} `.repeat(content.length / (words.length + 1)));
});
