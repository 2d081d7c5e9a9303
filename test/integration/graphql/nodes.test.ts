import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { globalId } from '../../../src/graphql/ids.js';
import { newId } from '../../../src/ids.js';
import { codesOf, startTestSchema, statementsOf, type TestSchema } from '../../support/graphql.js';
import { rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
let api: TestSchema;
let session: string;
let messages: string[];

beforeAll(async () => {
  api = await startTestSchema();
  const write = rowWriter(api.database.prisma);
  session = await write.session(ada, { title: 'talk' });
  messages = await write.messages(session, [{ content: 'a' }, { content: 'b', role: 'ASSISTANT' }, { content: 'c' }]);
  await write.turn(session, 1, String(messages[0]), messages[1]);
});
afterAll(() => api.close());

const read = `query ($ids: [ID!]!) { nodes(ids: $ids) {
  __typename
  ... on ChatSession { title messages(first: 1) { totalCount nodes { content } } }
  ... on Message { content turn { number session { title } } }
} }`;
const encode = (text: string) => Buffer.from(text).toString('base64');

describe('nodes', () => {
  it('answers in the order of the ids, repeated ones repeated, with what each type selects', async () => {
    const ids = [
      globalId('Message', String(messages[2])),
      globalId('ChatSession', session),
      globalId('Message', String(messages[0])),
      globalId('ChatSession', session),
    ];
    const { data, errors } = await api.run(ada, read, { ids });
    expect(errors).toBeUndefined();
    const talk = {
      __typename: 'ChatSession',
      title: 'talk',
      messages: { totalCount: 3, nodes: [{ content: 'a' }] },
    };
    expect(data.nodes).toEqual([
      { __typename: 'Message', content: 'c', turn: null },
      talk,
      { __typename: 'Message', content: 'a', turn: { number: 1, session: { title: 'talk' } } },
      talk,
    ]);
  });

  it('leaves null and an error of its own at the place of what is not there', async () => {
    const ids = [globalId('ChatSession', newId()), globalId('ChatSession', session), globalId('Turn', session)];
    const result = await api.run(ada, read, { ids });
    expect(result.data.nodes.map((node: { title?: string } | null) => node?.title)).toEqual([
      undefined,
      'talk',
      undefined,
    ]);
    expect(codesOf(result)).toEqual([
      { code: 'NOT_FOUND', path: 'nodes.0' },
      { code: 'NOT_FOUND', path: 'nodes.2' },
    ]);
  });

  it('takes the same number of statements for two ids as for all', async () => {
    const all = messages.map((id) => globalId('Message', id));
    const two = await statementsOf(() => api.run(ada, read, { ids: all.slice(0, 2) }));
    expect(await statementsOf(() => api.run(ada, read, { ids: all }))).toHaveLength(two.length);
  });

  it('takes 100 ids and refuses 101', async () => {
    const ids = Array.from({ length: 101 }, () => globalId('ChatSession', session));
    const enough = '{ nodes(ids: $ids) { id } }';
    const full = await api.run(ada, `query ($ids: [ID!]!) ${enough}`, { ids: ids.slice(1) });
    expect(full.errors).toBeUndefined();
    expect(full.data.nodes).toHaveLength(100);
    const over = await api.run(ada, `query ($ids: [ID!]!) ${enough}`, { ids });
    expect(over.data).toBeNull();
    expect(codesOf(over)).toEqual([{ code: 'BAD_USER_INPUT', path: 'nodes' }]);
    expect((await api.run(ada, `query ($ids: [ID!]!) ${enough}`, { ids: [] })).data).toEqual({ nodes: [] });
  });
});

describe('an id that cannot be one', () => {
  it.each([
    ['free text', 'hello'],
    ['a bare UUID', '0190a000-0000-7000-8000-00000000000b'],
    ['an unknown type', encode('Secret:0190a000-0000-7000-8000-00000000000b')],
    ['a type that cannot be fetched', encode('Budget:0190a000-0000-7000-8000-00000000000b')],
    ['a name of the language', encode('constructor:0190a000-0000-7000-8000-00000000000b')],
    ['an id that is no UUID', encode("Turn:x' OR '1'='1")],
  ])('is refused by node and nodes: %s', async (_what, id) => {
    const statements = await statementsOf(async () => {
      const one = await api.run(ada, 'query ($id: ID!) { node(id: $id) { id } }', { id });
      expect(one.data).toEqual({ node: null });
      expect(codesOf(one)).toEqual([{ code: 'BAD_USER_INPUT', path: 'node' }]);
      expect(one.errors?.[0]?.message).toMatch(/^id must be an id of type ChatSession, Message/);
      const list = await api.run(ada, read, { ids: [globalId('ChatSession', session), id] });
      expect(codesOf(list)).toEqual([{ code: 'BAD_USER_INPUT', path: 'nodes' }]);
      expect(list.errors?.[0]?.message).toMatch(/^ids\[1\] must be/);
    });
    expect(statements).toEqual([]);
  });

  it('is refused by chatSession, also when it is the id of something else', async () => {
    const ask = (id: string) => api.run(ada, 'query ($id: ID!) { chatSession(id: $id) { id } }', { id });
    for (const id of ['hello', globalId('Turn', session), globalId('Budget', session)]) {
      const result = await ask(id);
      expect(result.data).toEqual({ chatSession: null });
      expect(codesOf(result)).toEqual([{ code: 'BAD_USER_INPUT', path: 'chatSession' }]);
    }
    expect(codesOf(await ask(globalId('ChatSession', newId())))).toEqual([{ code: 'NOT_FOUND', path: 'chatSession' }]);
  });
});
