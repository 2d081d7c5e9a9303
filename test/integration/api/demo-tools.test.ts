import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../../support/client.js';
import { answerQuestion, decideApproval } from '../../support/documents.js';

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: 'demo', MODELS: '{}' }, { demoPace: 0 });
  client = chatClient(app.url);
});
afterAll(() => app.close());

it('shows a sum by the calculator, without a key', async () => {
  const sessionId = await client.createSession();
  const events = await openTurn(app.url, 'ws', sessionId, 'What is 17 * 23?').rest();
  expect(events.find(({ __typename }) => __typename === 'ThinkingDelta')).toBeDefined();
  expect(events.find(({ __typename }) => __typename === 'ToolCallCompleted').toolCall).toMatchObject({
    name: 'calculator',
    status: 'SUCCEEDED',
    result: '391',
  });
  expect(events.at(-1).response.content).toContain('391');
});

it('shows a question back', async () => {
  const sessionId = await client.createSession();
  const { pendingInput } = await client.send(sessionId, 'Ask me something.');
  expect(pendingInput).toMatchObject({ __typename: 'Question', choices: expect.arrayContaining(['summer']) });
  const turn = openTurn(app.url, 'ws', sessionId, 'next', { whenBusy: 'ENQUEUE' });
  await client.run(answerQuestion, { input: { requestId: pendingInput.id, answer: 'winter' } });
  await turn.rest();
  const { history } = (
    await client.run('query ($id: ID!) { chatSession(id: $id) { history { content } } }', { id: sessionId })
  ).data.chatSession;
  expect(history.map(({ content }: { content: string }) => content).join('\n')).toContain('“winter” it is');
});

it('shows an approval', async () => {
  const sessionId = await client.createSession();
  const turn = openTurn(app.url, 'ws', sessionId, 'Order a pizza');
  const { request } = await turn.until(({ __typename }) => __typename === 'InputRequested');
  expect(request).toMatchObject({ __typename: 'ToolApproval', toolCall: { name: 'order_pizza' } });
  await client.run(decideApproval, { input: { requestId: request.id, approved: true } });
  expect((await turn.rest()).at(-1).response.content).toContain('is on its way');
});
