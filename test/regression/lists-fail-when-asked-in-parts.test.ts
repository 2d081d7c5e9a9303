import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import { runSql } from '../support/database-server.js';

// Field report A82: asking only for the total errs, a cursor in a nested list gives an empty page, and a cursor drops
// the limit, so that everything is read. The numbers of statements are counted in test/integration/graphql; here it is
// the rows that they read, in a session of 10,000 messages.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const connections = ['messages', 'turns', 'modelCalls', 'traceEvents', 'traceEvents(types: [TURN_STARTED])'];
const lengths = [6, 3, 3, 12, 3];

async function conversation(): Promise<string> {
  const id = await client.createSession({ title: 'parts of lists' });
  for (const message of ['one', 'two', 'three']) await client.send(id, message);
  return id;
}

describe('asking for a part of a list alone', () => {
  let id: string;
  beforeAll(async () => {
    id = await conversation();
  });
  const ask = async (list: string, selection: string) => {
    const { data, errors } = await client.run(
      `query ($id: ID!) { chatSession(id: $id) { list: ${list} { ${selection} } } }`,
      { id },
    );
    expect(errors).toBeUndefined();
    return data.chatSession.list;
  };

  it.each(connections.map((list, at) => [list, lengths[at]] as const))('%s: its total is %i', async (list, length) => {
    expect(await ask(list, 'totalCount')).toEqual({ totalCount: length });
    const paged = list.includes('(') ? list.replace('(', '(first: 1, ') : `${list}(first: 1)`;
    expect(await ask(paged, 'totalCount')).toEqual({ totalCount: length });
    expect(await ask(paged.replace('first: 1', 'first: 0'), 'totalCount')).toEqual({ totalCount: length });
  });

  it.each(connections)('%s: its page info, cursors or nodes', async (list) => {
    const { pageInfo } = await ask(list, 'pageInfo { hasNextPage endCursor }');
    expect(pageInfo.hasNextPage).toBe(false);
    const { edges } = await ask(list, 'edges { cursor }');
    expect(edges.at(-1).cursor).toBe(pageInfo.endCursor);
    const { nodes } = await ask(list, 'nodes { __typename }');
    expect(nodes).toHaveLength(edges.length);
    expect(await ask(list, '__typename')).toEqual({ __typename: expect.stringMatching(/Connection$/) });
  });

  it('the list of sessions, with and without a filter', async () => {
    const { data, errors } = await client.run(
      `{ all: chatSessions { totalCount }
         none: chatSessions(first: 0) { totalCount }
         found: chatSessions(filter: { search: "parts of lists" }) { totalCount }
         missing: chatSessions(filter: { search: "nowhere" }) { totalCount pageInfo { hasNextPage endCursor } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      all: { totalCount: 1 },
      none: { totalCount: 1 },
      found: { totalCount: 1 },
      missing: { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null } },
    });
  });

  it('a mutation’s answer', async () => {
    const { data, errors } = await client.run(
      `mutation ($id: ID!) { updateChatSession(input: { id: $id, title: "parts of lists" }) {
         messages { totalCount } turns(last: 1) { totalCount nodes { session { messages(first: 1) { totalCount } } } } } }`,
      { id },
    );
    expect(errors).toBeUndefined();
    const messages = { totalCount: 6 };
    expect(data.updateChatSession).toEqual({ messages, turns: { totalCount: 3, nodes: [{ session: { messages } }] } });
  });
});

describe('a cursor in a nested list', () => {
  it('gives the page behind it in every place where the list stands', async () => {
    const ids = [await conversation(), await conversation()];
    const first = await client.run(
      'query ($id: ID!) { chatSession(id: $id) { messages(first: 2) { pageInfo { endCursor } } } }',
      { id: ids[0] },
    );
    const { endCursor } = first.data.chatSession.messages.pageInfo;
    const { data, errors } = await client.run(
      `query ($id: ID!, $after: String) {
        chatSessions(first: 2) { nodes { id messages(first: 2, after: $after) { ...Page } } }
        node(id: $id) { ... on ChatSession { messages(first: 2, after: $after) { ...Page } } }
        chatSession(id: $id) {
          turns(first: 1) { nodes { session { messages(first: 2, after: $after) { ...Page } } } }
          messages(first: 1) { nodes { turn { session { messages(first: 2, after: $after) { ...Page } } } } }
          rest: messages(last: 2, after: $after) { nodes { content } }
          between: messages(first: 9, after: $after, before: $after) { ...Page }
        }
      }
      fragment Page on ChatSessionMessagesConnection {
        totalCount nodes { content } pageInfo { hasNextPage hasPreviousPage }
      }`,
      { id: ids[0], after: endCursor },
    );
    expect(errors).toBeUndefined();
    const page = {
      totalCount: 6,
      nodes: [{ content: 'two' }, { content: 'echo: two' }],
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    };
    expect(data.chatSessions.nodes.map(({ messages }: { messages: unknown }) => messages)).toEqual([page, page]);
    expect(data.node.messages).toEqual(page);
    expect(data.chatSession.turns.nodes[0].session.messages).toEqual(page);
    expect(data.chatSession.messages.nodes[0].turn.session.messages).toEqual(page);
    expect(data.chatSession.rest.nodes).toEqual([{ content: 'three' }, { content: 'echo: three' }]);
    expect(data.chatSession.between.nodes).toEqual([]);
  });
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows of tables that a plan has looked at, whether it took them or not. */
const looked = (plan: Plan): number =>
  (plan['Relation Name'] && plan['Node Type'].includes('Scan')
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, child) => sum + looked(child), 0);

/** What all statements of one request read: how many rows they looked at, and how many they gave to the server. */
async function readBy(action: () => Promise<unknown>): Promise<{ looked: number; given: number }> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  let statements: { text: string; values?: unknown[] }[];
  try {
    await action();
    statements = spy.mock.calls
      .map(([config, values]) =>
        typeof config === 'string'
          ? { text: config, values: values as unknown as unknown[] }
          : (config as { text: string }),
      )
      // The server looks after its turns meanwhile, which is no part of the request.
      .filter(({ text }) => /^\s*(?:SELECT|WITH)\b/i.test(text) && !/\bUPDATE\b/i.test(text));
  } finally {
    spy.mockRestore();
  }
  expect(statements.length).toBeGreaterThan(0);
  const database = new pg.Client({ connectionString: app.database.url });
  await database.connect();
  try {
    // In a table of this size reading all of it may really be cheapest; what counts is what a large one would do.
    await database.query('SET enable_seqscan = off');
    const read = { looked: 0, given: 0 };
    for (const { text, values } of statements) {
      const explained = await database.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values ?? []);
      const { Plan: plan } = explained.rows[0]['QUERY PLAN'][0] as { Plan: Plan };
      read.looked += looked(plan);
      read.given += plan['Actual Rows'];
    }
    return read;
  } finally {
    await database.end();
  }
}

describe('in a session of 10,000 messages', () => {
  let id: string;
  let deep: string;
  beforeAll(async () => {
    id = await client.createSession({ title: 'long' });
    await client.send(id, 'the first words');
    const uuid = Buffer.from(id, 'base64').toString('utf8').split(':')[1];
    await runSql(
      app.database.url,
      `INSERT INTO messages (id, session_id, sequence, role, content)
       SELECT gen_random_uuid(), '${uuid}', n, (CASE WHEN n % 2 = 1 THEN 'USER' ELSE 'ASSISTANT' END)::message_role, 'words ' || n
       FROM generate_series(3, 10000) n`,
    );
    await runSql(
      app.database.url,
      `UPDATE chat_sessions SET message_count = 10000, last_message_sequence = 10000 WHERE id = '${uuid}'`,
    );
    await runSql(app.database.url, 'ANALYZE');
    const page = await client.run(
      'query ($id: ID!) { chatSession(id: $id) { messages(last: 100) { pageInfo { startCursor } } } }',
      { id },
    );
    deep = page.data.chatSession.messages.pageInfo.startCursor;
  }, 60_000);

  const reading =
    (args: string, selection = 'nodes { content turn { number } } pageInfo { hasNextPage }') =>
    async () => {
      const { data, errors } = await client.run(
        `query ($id: ID!) { chatSession(id: $id) { messages${args} { ${selection} } } }`,
        { id },
      );
      expect(errors).toBeUndefined();
      return data.chatSession.messages;
    };

  it.each([
    ['a page at the front', () => '(first: 20)', 20],
    ['a page at the end', () => '(last: 20)', 20],
    ['a page deep inside, by its cursor', () => `(first: 20, after: "${deep}")`, 20],
    ['a page in front of a cursor', () => `(last: 20, before: "${deep}")`, 20],
    ['all that is behind a cursor', () => `(after: "${deep}")`, 20],
    ['as much as there is', () => `(first: 2147483647, after: "${deep}")`, 99],
    ['between two cursors', () => `(first: 20, after: "${deep}", before: "${deep}")`, 0],
  ])('%s reads its own rows and hardly any other', async (_what, args, size) => {
    const read = await readBy(async () => expect((await reading(args())()).nodes).toHaveLength(size));
    // The keys, the rows, one more to see whether the list goes on, the session, and the turns of the messages.
    expect(read.given).toBeLessThanOrEqual(3 * size + 10);
    expect(read.looked).toBeLessThanOrEqual(4 * size + 40);
  });

  it('the total alone reads no message', async () => {
    const read = await readBy(async () =>
      expect(await reading('(first: 5)', 'totalCount')()).toEqual({ totalCount: 10_000 }),
    );
    expect(read.looked).toBeLessThanOrEqual(20);
  });

  it('the newest of its history are read alone', async () => {
    const read = await readBy(async () => {
      const { data } = await client.run('query ($id: ID!) { chatSession(id: $id) { history(last: 5) { content } } }', {
        id,
      });
      expect(data.chatSession.history.at(-1).content).toBe('words 10000');
    });
    expect(read.looked).toBeLessThanOrEqual(30);
  });

  it('a list of sessions shows the last message of each without reading the others', async () => {
    const read = await readBy(async () => {
      const { data } = await client.run(
        '{ chatSessions { nodes { messageCount messages(last: 1) { totalCount nodes { content } } } } }',
      );
      expect(data.chatSessions.nodes[0].messages).toEqual({ totalCount: 10_000, nodes: [{ content: 'words 10000' }] });
    });
    expect(read.looked).toBeLessThanOrEqual(60);
  });
});
