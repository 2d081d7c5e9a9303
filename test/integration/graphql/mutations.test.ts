import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatService } from '../../../src/chat/service.js';
import { ChatError } from '../../../src/errors.js';
import { globalId } from '../../../src/graphql/ids.js';
import { newId } from '../../../src/ids.js';
import { codesOf, startTestSchema, type TestSchema } from '../../support/graphql.js';
import { rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
let api: TestSchema;
let session: string;
let turn: string;

beforeAll(async () => {
  api = await startTestSchema();
  const write = rowWriter(api.database.prisma);
  session = await write.session(ada, { title: 'talk' });
  const [question, answer] = await write.messages(session, [{}, { role: 'ASSISTANT', content: 'Hello' }]);
  turn = await write.turn(session, 1, String(question), answer);
});
afterAll(() => api.close());

/** Runs a mutation against a chat whose every method notes what it got and answers with `answer`. */
async function mutate(field: string, variables: Record<string, unknown>, answer: unknown) {
  const asked: unknown[][] = [];
  const chat = new Proxy({} as ChatService, {
    get:
      (_target, name) =>
      async (...args: unknown[]) => {
        asked.push([name, ...args]);
        if (answer instanceof Error) throw answer;
        return answer;
      },
  });
  const declared = Object.keys(variables).map((name) => `$${name}: ${types[name] ?? inputType(field)}`);
  const result = await api.run(ada, `mutation (${declared.join(', ')}) { result: ${field} }`, variables, { chat });
  return { result, asked };
}
const types: Record<string, string> = { id: 'ID!' };
const inputType = (field: string) => `${field.charAt(0).toUpperCase()}${field.slice(1, field.indexOf('('))}Input!`;
const ok = ({ result }: Awaited<ReturnType<typeof mutate>>) => {
  expect(result.errors).toBeUndefined();
  return result.data.result;
};

describe('mutations', () => {
  it('hand the settings of a new session on as they are, what is left out and what is null included', async () => {
    const input = {
      clientSessionId: 'c-1',
      title: null,
      systemPrompt: ' Be brief. ',
      maxHistory: 0,
      budget: { maxCostUsd: null, maxTokens: 9007199254740991 },
      shareBudgetOf: globalId('ChatSession', session),
      temperature: 0.5,
      metadata: { tags: ['a'], n: null },
    };
    const done = await mutate('createChatSession(input: $input) { id title }', { input }, { id: session });
    expect(ok(done)).toEqual({ id: globalId('ChatSession', session), title: 'talk' });
    expect(done.asked).toEqual([['createSession', ada, { ...input, shareBudgetOf: session }]]);
  });

  it('leave out of a change what the client left out', async () => {
    const input = { id: globalId('ChatSession', session), title: null, budget: { maxCostUsd: 5 } };
    const done = await mutate('updateChatSession(input: $input) { title }', { input }, undefined);
    expect(ok(done)).toEqual({ title: 'talk' });
    const [[name, principal, change] = []] = done.asked;
    expect([name, principal]).toEqual(['updateSession', ada]);
    expect(change).toStrictEqual({ id: session, title: null, budget: { maxCostUsd: 5 } });
  });

  it('answer send with what the turn gave', async () => {
    const input = {
      sessionId: globalId('ChatSession', session),
      message: ' hi\n',
      images: ['https://example.com/a.png'],
      clientMessageId: 'm-1',
    };
    const done = await mutate(
      'send(input: $input) { content finishReason message { content } turn { id } session { title history { content } } }',
      { input },
      { turnId: turn },
    );
    expect(ok(done)).toEqual({
      content: 'Hello',
      finishReason: 'STOP',
      message: { content: 'Hello' },
      turn: { id: globalId('Turn', turn) },
      session: { title: 'talk', history: [{ content: 'message 1' }, { content: 'Hello' }] },
    });
    expect(done.asked).toEqual([['send', ada, { ...input, sessionId: session, whenBusy: 'REJECT' }]]);
  });

  it('hand seeds on in their order, with tool calls and times', async () => {
    const messages = [
      { role: 'SYSTEM', content: 'x' },
      {
        role: 'ASSISTANT',
        content: '',
        toolCalls: [{ id: 'c1', name: 'sum', arguments: [] }],
        createdAt: '2026-01-01T00:00:00Z',
      },
      { role: 'TOOL', content: '4', toolCallId: 'c1' },
    ];
    const seeded = { seededCount: 2, skippedSystemCount: 1, roleCounts: { tool: 1, assistant: 1 }, contentDigest: 'd' };
    const done = await mutate(
      'seedHistory(input: $input) { seededCount skippedSystemCount roleCounts contentDigest session { turnCount } }',
      { input: { sessionId: globalId('ChatSession', session), messages } },
      seeded,
    );
    expect(ok(done)).toEqual({ ...seeded, session: { turnCount: 1 } });
    expect(done.asked).toEqual([
      [
        'seedHistory',
        ada,
        session,
        [
          { role: 'SYSTEM', content: 'x' },
          { ...messages[1], createdAt: new Date('2026-01-01T00:00:00Z') },
          { role: 'TOOL', content: '4', toolCallId: 'c1' },
        ],
      ],
    ]);
  });

  it('close, delete and stop by the id of the session', async () => {
    const id = globalId('ChatSession', session);
    expect(ok(await mutate('closeChatSession(id: $id) { title }', { id }, undefined))).toEqual({ title: 'talk' });
    const deleted = await mutate('deleteChatSession(id: $id)', { id }, undefined);
    expect(ok(deleted)).toBe(id);
    expect(deleted.asked).toEqual([['deleteSession', ada, session]]);
    const stopped = await mutate('stop(sessionId: $id) { id status }', { id }, { turnId: turn });
    expect(ok(stopped)).toEqual({ id: globalId('Turn', turn), status: 'COMPLETED' });
    expect(ok(await mutate('stop(sessionId: $id) { id }', { id }, null))).toBeNull();
  });

  it('refuse an id that is none before the chat is asked', async () => {
    for (const id of ['nonsense', globalId('Message', session)]) {
      const attempts = [
        await mutate('closeChatSession(id: $id) { id }', { id }, undefined),
        await mutate('deleteChatSession(id: $id)', { id }, undefined),
        await mutate('stop(sessionId: $id) { id }', { id }, undefined),
        await mutate('send(input: $input) { content }', { input: { sessionId: id, message: 'hi' } }, undefined),
        await mutate(
          'seedHistory(input: $input) { seededCount }',
          { input: { sessionId: id, messages: [] } },
          undefined,
        ),
        await mutate('updateChatSession(input: $input) { id }', { input: { id } }, undefined),
        await mutate('createChatSession(input: $input) { id }', { input: { shareBudgetOf: id } }, undefined),
      ];
      for (const { result, asked } of attempts) {
        expect(codesOf(result)).toEqual([{ code: 'BAD_USER_INPUT', path: 'result' }]);
        expect(result.errors?.[0]?.message).toMatch(/^(id|sessionId|shareBudgetOf) must be an id of type ChatSession/);
        expect(asked).toEqual([]);
      }
    }
  });

  it('pass on what the chat refuses, and what is gone when the answer is read', async () => {
    const input = { sessionId: globalId('ChatSession', session), message: 'hi' };
    const refused = await mutate('send(input: $input) { content }', { input }, new ChatError('BUDGET_EXCEEDED'));
    expect(refused.result.data).toBeNull();
    expect(codesOf(refused.result)).toEqual([{ code: 'BUDGET_EXCEEDED', path: 'result' }]);
    const gone = await mutate('send(input: $input) { content }', { input }, { turnId: newId() });
    expect(codesOf(gone.result)).toEqual([{ code: 'NOT_FOUND', path: 'result' }]);
  });
});
