import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openEvents } from '../../support/client.js';
import { response } from '../../support/documents.js';
import { statementsOf } from '../../support/graphql.js';
import * as script from '../../support/script.js';

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

/** A subscription that asks nothing of the store but what its end tells. */
const stream = (selection: string) => /* GraphQL */ `
  ${selection.includes('...Reply') ? response : ''}
  subscription Stream($input: StreamInput!) {
    stream(input: $input) {
      __typename
      ... on TextDelta { delta }
      ... on TurnCompleted { response { ${selection} } }
      ... on TurnFailed { response { ${selection} } }
      ... on TurnStopped { response { ${selection} } }
    }
  }
`;

const openTurn = (sessionId: string, { selection = '...Reply', ...more }: Record<string, unknown> = {}) =>
  openEvents(app.url, 'ws', stream(String(selection)), { input: { sessionId, message: 'hello', ...more } });

/** The response that the last event of a turn carries. */
async function toldAt(events: ReturnType<typeof openTurn>) {
  return (await events.rest()).at(-1).response;
}

/** The same, read anew. */
async function stored(turnId: string) {
  const { data } = await client.run(
    `${response} query Stored($id: ID!) { node(id: $id) { ... on Turn { response { ...Reply } } } }`,
    { id: turnId },
  );
  return data.node.response;
}

/** What reads a turn, a session or a message for whoever has selected it. */
const readsOf = (statements: readonly string[]) => statements.filter((text) => text.includes('"public".'));

const answer = script.reply('Hi.', { usage: { prompt: 100, cached: 40, completion: 7, reasoning: 2 } });

describe('the end of a turn', () => {
  it('reads nothing again for what is usually asked of it, streamed or sent', async () => {
    const sessionId = await client.createSession();
    const streamed = await statementsOf(() => toldAt(openTurn(sessionId)));
    const sent = await statementsOf(() => client.send(sessionId, 'hello'));
    for (const statements of [streamed, sent]) {
      expect(readsOf(statements)).toEqual([]);
      // Those of a plain turn; what runs in the background may come between them.
      const own = statements.filter((text) => /\bmessages\b|\bmodel_calls\b/.test(text));
      expect(own).toHaveLength(4);
    }
  });

  it.each<[string, Record<string, unknown>, script.Script]>([
    ['a reply', {}, answer],
    ['a reply after a tool', {}, [script.callTools([{ id: 'c1', name: 'no_such_tool', arguments: '{}' }])]],
    ['a reply in a history that is cut', { maxHistory: 1 }, answer],
    ['a reply of which no history is kept', { maxHistory: 0 }, answer],
    ['a failure', {}, [script.text('Hal'), script.cutConnection]],
    ['a refusal', {}, [script.httpError(400)]],
  ])('tells of %s what is stored', async (_what, settings, reply) => {
    const sessionId = await client.createSession(settings);
    app.provider.enqueue(answer, reply);
    await client.send(sessionId, 'before');
    const told = await toldAt(openTurn(sessionId));
    expect(told).toMatchObject({ turn: { number: 2 }, session: { id: sessionId, turnCount: 2 } });
    expect(await stored(told.turn.id)).toEqual(told);
  });

  it('tells of a stop what is stored', async () => {
    const sessionId = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.text('Hal'), script.pause(gate)]);
    const events = openTurn(sessionId);
    await events.until(({ __typename }) => __typename === 'TextDelta');
    await client.stop(sessionId);
    const told = await toldAt(events);
    expect(told).toMatchObject({ finishReason: 'STOPPED', content: 'Hal', message: { status: 'PARTIAL' } });
    expect(await stored(told.turn.id)).toEqual(told);
  });

  it('reads whatever else is asked of it', async () => {
    const sessionId = await client.createSession({ title: 'talk' });
    const selection = 'content session { title } turn { number userMessage { content } messages { content } }';
    app.provider.enqueue(answer);
    expect(await toldAt(openTurn(sessionId, { selection }))).toEqual({
      content: 'Hi.',
      session: { title: 'talk' },
      turn: { number: 1, userMessage: { content: 'hello' }, messages: [{ content: 'hello' }, { content: 'Hi.' }] },
    });
  });
});
