import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestSchema, statementsOf, type TestSchema } from '../../support/graphql.js';
import { type RowWriter, rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
let api: TestSchema;
let write: RowWriter;

/** A session with `turns` turns of a question and a reply each. */
async function conversation(turns: number): Promise<string> {
  const sessionId = await write.session(ada);
  const ids = await write.messages(
    sessionId,
    Array.from({ length: turns * 2 }, (_, index) => ({
      role: index % 2 === 0 ? ('USER' as const) : ('ASSISTANT' as const),
      content: `${index % 2 === 0 ? 'question' : 'answer'} ${Math.floor(index / 2) + 1}`,
    })),
  );
  for (let number = 1; number <= turns; number += 1) {
    await write.turn(sessionId, number, String(ids[number * 2 - 2]), ids[number * 2 - 1]);
  }
  await write.modelCall(ada, { sessionId });
  await write.traceEvents(sessionId, [{}, {}]);
  return sessionId;
}

beforeAll(async () => {
  api = await startTestSchema();
  write = rowWriter(api.database.prisma);
  for (let index = 0; index < 50; index += 1) await conversation(2);
});
afterAll(() => api.close());

const sidebar = `query Sidebar($first: Int) {
  chatSessions(first: $first) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges {
      node {
        id title totalCostUsd usage { totalTokens }
        budget { id remainingCostUsd shared }
        activeTurn { number }
        messages(last: 1) {
          totalCount
          edges { node { content images { mimeType bytes } toolCalls { id name } turn { number response { content } } } }
        }
        turns(last: 1) {
          nodes {
            number error { code } userMessage { content } messages { role session: turn { session { title } } }
            response { content message { id status } turn { number } session { turnCount } }
          }
        }
        history(last: 2) { role content }
        modelCalls(first: 1) { totalCount nodes { model turn { number } } }
        traceEvents(first: 1, types: [TURN_STARTED]) { totalCount nodes { type data turn { number } } }
      }
    }
  }
}`;

describe('reading a list of sessions', () => {
  it('takes the same number of statements for 50 sessions as for 2, whatever is nested in it', async () => {
    const few = await statementsOf(() => api.run(ada, sidebar, { first: 2 }));
    const many = await statementsOf(() => api.run(ada, sidebar, { first: 50 }));
    expect(many).toHaveLength(few.length);
    expect(many.length).toBeLessThanOrEqual(35);

    const { data, errors } = await api.run(ada, sidebar, { first: 50 });
    expect(errors).toBeUndefined();
    expect(data.chatSessions.edges).toHaveLength(50);
    for (const { node } of data.chatSessions.edges) {
      expect(node).toMatchObject({
        messages: { totalCount: 4, edges: [{ node: { content: 'answer 2', turn: { number: 2 } } }] },
        turns: { nodes: [{ number: 2, response: { content: 'answer 2', session: { turnCount: 2 } } }] },
        history: [{ content: 'question 2' }, { content: 'answer 2' }],
        modelCalls: { totalCount: 1, nodes: [{ model: 'demo' }] },
        traceEvents: { totalCount: 2, nodes: [{ type: 'TURN_STARTED' }] },
      });
    }
  });

  it('takes six statements for the last message and the last turn of each: keys and rows of every list', async () => {
    const statements = await statementsOf(() =>
      api.run(
        ada,
        '{ chatSessions(first: 50) { edges { node { title messages(last: 1) { nodes { content } } turns(last: 1) { nodes { status } } } } } }',
      ),
    );
    expect(statements).toHaveLength(6);
  });

  it('gives each alias of a connection its own page', async () => {
    const { data } = await api.run(
      ada,
      '{ chatSessions(first: 3) { nodes { a: messages(first: 1) { nodes { content } } b: messages(last: 1) { nodes { content sequence } } } } }',
    );
    for (const node of data.chatSessions.nodes) {
      expect(node).toEqual({
        a: { nodes: [{ content: 'question 1' }] },
        b: { nodes: [{ content: 'answer 2', sequence: 4 }] },
      });
    }
  });

  it('reads the selection of fragments like fields in place', async () => {
    const { data, errors } = await api.run(
      ada,
      `query { chatSessions(first: 2) { ...Page } }
       fragment Page on QueryChatSessionsConnection { edges { node { ...Talk } } nodes { ... on Node { id } ...Talk } }
       fragment Talk on ChatSession { turnCount messages(first: 1) { edges { ...Edge } } }
       fragment Edge on ChatSessionMessagesConnectionEdge { node { content turn { number } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.chatSessions.nodes[0]).toMatchObject({
      turnCount: 2,
      messages: { edges: [{ node: { content: 'question 1', turn: { number: 1 } } }] },
    });
  });
});

describe('asking for the length of a list alone', () => {
  it('reads no row of the list', async () => {
    const session = await conversation(1);
    const id = Buffer.from(`ChatSession:${session}`).toString('base64');
    const statements = await statementsOf(async () => {
      const { data } = await api.run(
        ada,
        `query ($id: ID!) { chatSession(id: $id) {
          messages(first: 5) { totalCount } turns { totalCount } traceEvents { totalCount }
        } }`,
        { id },
      );
      expect(data.chatSession).toEqual({
        messages: { totalCount: 2 },
        turns: { totalCount: 1 },
        traceEvents: { totalCount: 2 },
      });
    });
    // One looks for a running turn, one reads the session, whose counters are the lengths.
    expect(statements).toHaveLength(2);
  });

  it('counts the sessions of a filter without reading them', async () => {
    const statements = await statementsOf(async () => {
      const { data } = await api.run(ada, '{ chatSessions(first: 1, filter: {status: CLOSED}) { totalCount } }');
      expect(data.chatSessions.totalCount).toBe(0);
    });
    expect(statements).toHaveLength(1);
  });
});

describe('reading without need', () => {
  it('loads no bytes of an image unless its url is selected', async () => {
    const sessionId = await write.session(ada);
    const [messageId] = await write.messages(sessionId, [{}]);
    const digest = 'a'.repeat(64);
    const { prisma } = api.database;
    await prisma.imageBlob.create({
      data: { sessionId, digest, mimeType: 'image/png', byteSize: 3, data: Buffer.from([1, 2, 3]) },
    });
    await prisma.messageImage.create({
      data: { id: sessionId, messageId: String(messageId), sessionId, position: 0, digest },
    });
    const id = Buffer.from(`ChatSession:${sessionId}`).toString('base64');
    const read = (fields: string) =>
      api.run(ada, `query ($id: ID!) { chatSession(id: $id) { history { images { ${fields} } } } }`, { id });

    const without = await statementsOf(() => read('mimeType bytes'));
    expect(without.filter((text) => /"data"|\bdata\b/.test(text))).toEqual([]);
    const { data } = await read('url mimeType bytes');
    expect(data.chatSession.history[0].images).toEqual([
      { url: 'data:image/png;base64,AQID', mimeType: 'image/png', bytes: 3 },
    ]);
  });

  it('loads no system prompt and no event layout for a page that does not show them', async () => {
    const statements = await statementsOf(() => api.run(ada, sidebar, { first: 2 }));
    expect(statements.filter((text) => /system_prompt|event_layout|metadata/.test(text))).toEqual([]);
  });
});
