import { getIntrospectionQuery, parse, subscribe } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatService } from '../../../src/chat/service.js';
import { globalId } from '../../../src/graphql/ids.js';
import { codesOf, startTestSchema, statementsOf, type TestSchema } from '../../support/graphql.js';

const ada = { owner: 'ada', tenant: '' };
const someId = globalId('ChatSession', '0190a000-0000-7000-8000-00000000000b');
let api: TestSchema;

beforeAll(async () => {
  api = await startTestSchema();
});
afterAll(() => api.close());

/** `turn { session { turn { … } } }`, as deep as asked for. */
const deep = (levels: number): string => (levels === 0 ? 'id' : `activeTurn { session { ${deep(levels - 1)} } }`);

describe('the limits of one operation', () => {
  it('let the introspection of GraphiQL and codegen through', async () => {
    const { data, errors } = await api.run(ada, getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }));
    expect(errors).toBeUndefined();
    expect(data.__schema.types.length).toBeGreaterThan(20);
  });

  it.each([
    [
      'a sidebar of 100 sessions with their last message and turn',
      '{ chatSessions(first: 100) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id title status model updatedAt totalCostUsd budget { remainingCostUsd } messages(last: 1) { nodes { id role content } } turns(last: 1) { nodes { id status response { content finishReason } } } } } } }',
    ],
    [
      'a whole conversation with everything about it',
      `query { chatSession(id: "${someId}") { id title usage { totalTokens } budget { remainingCostUsd } history { id role content images { url mimeType bytes } toolCalls { id name arguments } turn { id number } } turns(last: 100) { nodes { id number status error { code message } usage { totalTokens } response { content } } } modelCalls(last: 100) { nodes { id model costUsd usage { inputTokens outputTokens } } } traceEvents(last: 100) { nodes { sequence type data at } } } }`,
    ],
    [
      'twenty sessions with their whole histories',
      '{ chatSessions(first: 20) { nodes { id history { id role content status createdAt } } } }',
    ],
    ['fragments inside fragments', `{ chatSessions { nodes { ${deep(6)} } } }`],
  ])('let %s through', async (_what, document) => {
    const result = await api.run(ada, document);
    expect(codesOf(result).filter(({ code }) => code !== 'NOT_FOUND')).toEqual([]);
  });

  it.each([
    ['nests too deeply', `{ chatSessions { nodes { ${deep(12)} } } }`, /depth/],
    [
      'selects too many fields',
      `{ ${Array.from({ length: 600 }, (_, index) => `a${index}: viewer { id }`).join(' ')} }`,
      /breadth/,
    ],
    [
      'multiplies pages by pages',
      '{ chatSessions(first: 100) { nodes { messages(first: 100) { nodes { turn { messages { content } } } } } } }',
      /complexity/,
    ],
    [
      'asks for the histories of a hundred sessions',
      '{ chatSessions(first: 100) { nodes { history { id role content } } } }',
      /complexity/,
    ],
    [
      'hides a multiplication in fragments',
      `query { chatSessions(first: 100) { ...A } } fragment A on QueryChatSessionsConnection { nodes { ...B } }
       fragment B on ChatSession { messages(first: 100) { nodes { turn { messages { content } } } } }`,
      /complexity/,
    ],
  ])('refuse an operation that %s, before anything is read', async (_what, document, message) => {
    const statements = await statementsOf(async () => {
      const result = await api.run(ada, document);
      expect(new Set(codesOf(result).map(({ code }) => code))).toEqual(new Set(['BAD_USER_INPUT']));
      expect(result.errors?.[0]?.message).toMatch(message);
    });
    expect(statements).toEqual([]);
  });

  it('refuse a subscription before its turn starts', async () => {
    const asked: unknown[] = [];
    const chat = { stream: async (...args: unknown[]) => asked.push(args) } as unknown as ChatService;
    const over = (fields: string) =>
      subscribe({
        schema: api.schema,
        document: parse(
          `subscription ($input: StreamInput!) { stream(input: $input) { ... on TurnStarted { ${fields} } } }`,
        ),
        variableValues: { input: { sessionId: someId, message: 'hello' } },
        contextValue: api.context(ada, { chat }),
      });
    const result = await over(`turn { session { ${deep(12)} } }`);
    expect(codesOf(result as never)).toEqual([{ code: 'BAD_USER_INPUT', path: 'stream' }]);
    expect(asked).toEqual([]);
    await over('turn { session { id } }').catch(() => {});
    expect(asked).toHaveLength(1);
  });
});
