import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, openTurn } from '../support/client.js';
import { answerQuestion } from '../support/documents.js';
import * as script from '../support/script.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const ask = (id: string, question: string) => script.callTools([{ id, name: 'ask_user', arguments: { question } }]);

it.each(['ws', 'sse'] as const)('a turn asks one question after the other, over %s', async (transport) => {
  const client = chatClient(app.url);
  const sessionId = await client.createSession();
  const first = app.provider.requests.length;
  app.provider.enqueue(ask('q1', 'From where?'), ask('q2', 'To where?'), script.reply('Booked.'));
  const turn = openTurn(app.url, transport, sessionId, 'book it');
  const isRequested = ({ __typename }: { __typename: string }) => __typename === 'InputRequested';
  const one = (await turn.until(isRequested)).request;
  expect(one.question).toBe('From where?');
  await client.run(answerQuestion, { input: { requestId: one.id, answer: 'Rome' } });
  const two = (await turn.until(isRequested)).request;
  expect(two).toMatchObject({ question: 'To where?', turnId: one.turnId });
  expect(two.id).not.toBe(one.id);
  expect((await client.session(sessionId)).pendingInput).toMatchObject({ id: two.id });
  await client.run(answerQuestion, { input: { requestId: two.id, answer: 'Oslo' } });
  const rest = await turn.rest();
  expect(rest.at(-1)).toMatchObject({ __typename: 'TurnCompleted', turnId: one.turnId });
  const { body } = await app.provider.request(first + 2);
  expect(body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['Rome', 'Oslo']);
  expect((await client.session(sessionId)).turnCount).toBe(1);
});
