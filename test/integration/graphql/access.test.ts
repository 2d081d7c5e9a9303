import { isInterfaceType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/auth/principal.js';
import { globalId, type IdType } from '../../../src/graphql/ids.js';
import { newId } from '../../../src/ids.js';
import { codesOf, readOnlyChat, startTestSchema, type TestSchema } from '../../support/graphql.js';
import { rowWriter } from '../../support/rows.js';

const owner: Principal = { owner: 'ada', tenant: 'acme' };
const strangers: [string, Principal][] = [
  ['another owner of the same tenant', { owner: 'bob', tenant: 'acme' }],
  ['the same subject in another tenant', { owner: 'ada', tenant: 'umbrella' }],
  ['the same subject without a tenant', { owner: 'ada', tenant: '' }],
  ['owner and tenant swapped', { owner: 'acme', tenant: 'ada' }],
  ['an empty owner', { owner: '', tenant: 'acme' }],
];

let api: TestSchema;
/** An object of each type that has an id, all of `owner`. */
let ids: Record<Exclude<IdType, 'Budget' | 'InputRequest'>, string>;

beforeAll(async () => {
  api = await startTestSchema();
  const write = rowWriter(api.database.prisma);
  const session = await write.session(owner, { title: 'secret plan' });
  const [message] = await write.messages(session, [{ content: 'secret word' }]);
  const turn = await write.turn(session, 1, String(message));
  const call = await write.modelCall(owner, { sessionId: session, turnId: turn });
  const [event] = await write.traceEvents(session, [{ turnId: turn }]);
  ids = {
    ChatSession: globalId('ChatSession', session),
    Message: globalId('Message', String(message)),
    Turn: globalId('Turn', turn),
    ModelCall: globalId('ModelCall', call),
    TraceEvent: globalId('TraceEvent', String(event)),
  };
});
afterAll(() => api.close());

const node = 'query ($id: ID!) { node(id: $id) { __typename id } }';
const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';
const missing = (id: string, path: string) => ({ data: { [path]: null }, codes: [{ code: 'NOT_FOUND', path }], id });

/** How each field of the root answers a stranger. A new field has to be put here, and into the tests below. */
const answers: Record<string, 'in this matrix' | 'the caller only' | 'the same for everybody'> = {
  node: 'in this matrix',
  nodes: 'in this matrix',
  chatSession: 'in this matrix',
  chatSessions: 'in this matrix',
  viewer: 'the caller only',
  models: 'the same for everybody',
  tools: 'the same for everybody',
};

it('every field of the root is known to this matrix', () => {
  expect(Object.keys(api.schema.getQueryType()?.getFields() ?? {}).toSorted()).toEqual(Object.keys(answers).toSorted());
});

describe('every type that implements Node', () => {
  it('is in this matrix', () => {
    const type = api.schema.getType('Node');
    const types = isInterfaceType(type) ? api.schema.getPossibleTypes(type).map(({ name }) => name) : [];
    expect(types.toSorted()).toEqual(Object.keys(ids).toSorted());
  });

  it('is given to its owner by node and nodes', async () => {
    for (const [type, id] of Object.entries(ids)) {
      const { data, errors } = await api.run(owner, node, { id });
      expect(errors).toBeUndefined();
      expect(data.node).toEqual({ __typename: type, id });
    }
    const all = await api.run(owner, nodes, { ids: Object.values(ids) });
    expect(all.errors).toBeUndefined();
    expect(all.data.nodes).toEqual(Object.entries(ids).map(([__typename, id]) => ({ __typename, id })));
  });

  describe.each(strangers)('is not there for %s', (_who, stranger) => {
    it('through node, in the same words as an object that does not exist', async () => {
      for (const [type, id] of Object.entries(ids)) {
        const theirs = await api.run(stranger, node, { id });
        const nobodys = await api.run(stranger, node, { id: globalId(type as IdType, newId()) });
        expect(theirs.data).toEqual({ node: null });
        expect(codesOf(theirs)).toEqual([{ code: 'NOT_FOUND', path: 'node' }]);
        expect(theirs.errors?.map(({ message }) => message)).toEqual(nobodys.errors?.map(({ message }) => message));
      }
    });

    it('through nodes, each with an error of its own', async () => {
      const result = await api.run(stranger, nodes, { ids: Object.values(ids) });
      expect(result.data.nodes).toEqual(Object.values(ids).map(() => null));
      expect(codesOf(result)).toEqual(
        Object.values(ids).map((_, index) => ({ code: 'NOT_FOUND', path: `nodes.${index}` })),
      );
    });

    it('through chatSession, the list, its search and its totals', async () => {
      const one = await api.run(stranger, 'query ($id: ID!) { chatSession(id: $id) { title } }', {
        id: ids.ChatSession,
      });
      expect({ data: one.data, codes: codesOf(one), id: ids.ChatSession }).toEqual(
        missing(ids.ChatSession, 'chatSession'),
      );
      const { data } = await api.run(
        stranger,
        `{ viewer { sessionCount totalTokens totalCostUsd }
           chatSessions { totalCount nodes { id } }
           byTitle: chatSessions(filter: {search: "plan"}) { totalCount nodes { id } }
           byWord: chatSessions(filter: {search: "word"}) { totalCount nodes { id } } }`,
      );
      const nothing = { totalCount: 0, nodes: [] };
      expect(data).toEqual({
        viewer: { sessionCount: 0, totalTokens: 0, totalCostUsd: 0 },
        chatSessions: nothing,
        byTitle: nothing,
        byWord: nothing,
      });
    });
  });
});

describe('a running turn', () => {
  it('is flushed for its owner before it is read, and left alone for everybody else', async () => {
    const write = rowWriter(api.database.prisma);
    const session = await write.session(owner);
    const [message] = await write.messages(session, [{}]);
    const turn = await write.turn(session, 1, String(message), null, {
      status: 'RUNNING',
      finishReason: null,
      finishedAt: null,
      leaseExpiresAt: new Date(),
    });
    await api.database.prisma.chatSession.update({ where: { id: session }, data: { activeTurnId: turn } });
    const flushed: string[] = [];
    const chat = new Proxy(readOnlyChat, {
      get: () => async (sessionId: string) => {
        flushed.push(sessionId);
      },
    });
    const asked = async (principal: Principal) => {
      flushed.length = 0;
      await api.run(
        principal,
        'query ($id: ID!) { chatSession(id: $id) { id } }',
        { id: globalId('ChatSession', session) },
        { chat },
      );
      for (const id of [
        globalId('ChatSession', session),
        globalId('Turn', turn),
        globalId('Message', String(message)),
      ]) {
        await api.run(principal, node, { id }, { chat });
      }
      return [...flushed];
    };
    expect(await asked(owner)).toEqual([session, session, session, session]);
    for (const [, stranger] of strangers) expect(await asked(stranger)).toEqual([]);
  });
});
