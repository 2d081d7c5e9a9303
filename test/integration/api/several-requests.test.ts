import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient } from '../../support/client.js';
import { answerQuestion } from '../../support/documents.js';
import * as script from '../../support/script.js';

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const ask = (id: string, question: string) => ({ id, name: 'ask_user', arguments: { question } });

const document = `query ($id: ID!) { chatSession(id: $id) {
  pendingInput { id } pendingInputs { id ... on Question { question } }
  modelCalls(first: 5) { nodes { id } } traceEvents(first: 50) { nodes { type data } }
} }`;

it('all that a turn waits for can be read, and the trace names it by the ids of the schema', async () => {
  const id = await client.createSession();
  app.provider.enqueue(
    script.callTools([ask('a', 'From where?'), ask('b', 'To where?')]),
    script.callTools([{ id: 'c', name: 'no_such_tool', arguments: {} }]),
    script.reply('Booked.'),
  );
  await client.send(id, 'book it');
  const read = async () => (await client.run(document, { id })).data.chatSession;
  const { pendingInput, pendingInputs } = await read();
  expect(pendingInputs.map(({ question }: { question: string }) => question)).toEqual(['From where?', 'To where?']);
  expect(pendingInput.id).toBe(pendingInputs[0].id);
  for (const { id: requestId } of pendingInputs)
    await client.run(answerQuestion, { input: { requestId, answer: 'there' } });
  await app.provider.request(2);

  const { pendingInputs: none, modelCalls, traceEvents } = await read();
  expect(none).toEqual([]);
  const dataOf = (wanted: string) =>
    traceEvents.nodes
      .filter(({ type }: { type: string }) => type === wanted)
      .map(({ data }: { data: unknown }) => data);
  expect(dataOf('INPUT_REQUESTED')).toMatchObject(
    pendingInputs.map(({ id: requestId }: { id: string }, at: number) => ({ requestId, toolCallId: ['a', 'b'][at] })),
  );
  expect(dataOf('TOOL_CALL')).toMatchObject([{ toolCallId: 'a' }, { toolCallId: 'b' }, { toolCallId: 'c' }]);
  expect(dataOf('DIAGNOSIS')).toMatchObject([{ toolCallId: 'c' }]);
  expect(dataOf('MODEL_CALL')[0]).toMatchObject({ modelCallId: modelCalls.nodes[0].id });
});

it('a budget of null sets the limits of a session back to those of a new one', async () => {
  const id = await client.createSession({ budget: { maxCostUsd: 1, maxTokens: 77 } });
  const update =
    'mutation ($input: UpdateChatSessionInput!) { updateChatSession(input: $input) { budget { maxCostUsd maxTokens } } }';
  const budgetAfter = async (budget: unknown) =>
    (await client.run(update, { input: { id, budget } })).data.updateChatSession.budget;
  expect(await budgetAfter({ maxTokens: 78 })).toEqual({ maxCostUsd: 1, maxTokens: 78 });
  expect(await budgetAfter(null)).toEqual({ maxCostUsd: 10, maxTokens: 500_000 });
});
