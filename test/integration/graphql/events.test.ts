import { type ExecutionResult, parse, subscribe, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatService, TurnEventCursor } from '../../../src/chat/service.js';
import { ChatError } from '../../../src/errors.js';
import { encodeCursor } from '../../../src/events/cursor.js';
import type { TurnEvent, TurnEventBody } from '../../../src/events/event.js';
import { globalId } from '../../../src/graphql/ids.js';
import { codesOf, startTestSchema, type TestSchema } from '../../support/graphql.js';
import { judged } from '../../support/judged.js';
import { rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
const at = new Date('2026-11-30T08:15:00.123Z');
let api: TestSchema;
let ids: { session: string; turn: string; message: string };

beforeAll(async () => {
  api = await startTestSchema();
  const write = rowWriter(api.database.prisma);
  const session = await write.session(ada, { title: 'talk' });
  const [question, answer] = await write.messages(session, [
    { content: 'question' },
    { content: 'Hello', role: 'ASSISTANT' },
  ]);
  const turn = await write.turn(session, 1, String(question), answer, { inputTokens: 3n, outputTokens: 2n });
  ids = { session, turn, message: String(answer) };
});
afterAll(() => api.close());

/** A cursor over given events that then waits, as one over a running turn does, until it is returned. */
function cursorOver(bodies: readonly TurnEventBody[]): TurnEventCursor & { returned: boolean } {
  const events = bodies.map(
    (body, index): TurnEvent => ({
      sessionId: ids.session,
      turnId: ids.turn,
      sequence: index + 1,
      turnNumber: 1,
      at,
      ...body,
    }),
  );
  let release: (result: IteratorReturnResult<undefined>) => void = () => {};
  const done: IteratorReturnResult<undefined> = { done: true, value: undefined };
  return {
    returned: false,
    next() {
      const value = events.shift();
      return value
        ? Promise.resolve({ done: false, value })
        : new Promise((resolve) => {
            release = resolve;
          });
    },
    async return() {
      this.returned = true;
      release(done);
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function follow(
  document: string,
  variables: object,
  chat: Partial<ChatService>,
  operationId: string | null = null,
) {
  const parsed = parse(document);
  expect(validate(api.schema, parsed)).toEqual([]);
  return subscribe({
    schema: api.schema,
    document: parsed,
    variableValues: { ...variables },
    contextValue: api.context(ada, { chat: chat as ChatService, operationId }),
  });
}

const everything = `subscription ($turnId: ID!, $after: String) { turnEvents(turnId: $turnId, after: $after) {
  __typename
  ... on TurnEvent { turnId sequence cursor at }
  ... on TurnStarted { turn { number session { title } userMessage { content } } }
  ... on TextDelta { step messageId delta }
  ... on ThinkingDelta { step delta }
  ... on StepCompleted { step usage { totalTokens estimated } costUsd budget { spentCostUsd shared } }
  ... on TurnCompleted { response { content tokensUsed message { id } session { totalCostUsd } } }
  ... on TurnFailed { error { code message retryable } response { content } }
  ... on TurnStopped { response { content finishReason } }
} }`;
const response = { content: 'Hello' };

describe('the events of a turn', () => {
  it('carry their values, opaque ids of what is stored, and stored objects where they are selected', async () => {
    const usage = { inputTokens: 3, cachedInputTokens: 0, outputTokens: 2, reasoningTokens: 0, estimated: true };
    const cursor = cursorOver([
      { type: 'TurnStarted' },
      { type: 'ThinkingDelta', step: 1, delta: 'hm' },
      { type: 'TextDelta', step: 1, messageId: ids.message, delta: 'Hello' },
      { type: 'StepCompleted', step: 1, usage, costUsd: 0.0000137, ...judged },
      { type: 'TurnCompleted' },
      { type: 'TurnFailed', code: 'PROVIDER_TIMEOUT', retryable: true },
      { type: 'TurnStopped' },
    ]);
    const asked: unknown[] = [];
    const chat: Partial<ChatService> = {
      turnEvents: async (...args) => {
        asked.push(args);
        return cursor;
      },
    };
    const turnId = globalId('Turn', ids.turn);
    const events = (await follow(
      everything,
      { turnId, after: 'at-0' },
      chat,
    )) as AsyncIterableIterator<ExecutionResult>;
    expect(asked).toEqual([[ada, ids.turn, 'at-0']]);

    const received: unknown[] = [];
    for (let index = 0; index < 7; index += 1) {
      const { value } = await events.next();
      expect(value.errors).toBeUndefined();
      received.push(value.data.turnEvents);
    }
    const base = (sequence: number) => ({
      turnId,
      sequence,
      cursor: encodeCursor({ turnNumber: 1, turnId: ids.turn }, sequence),
      at: '2026-11-30T08:15:00.123Z',
    });
    const messageId = globalId('Message', ids.message);
    expect(received).toEqual([
      {
        __typename: 'TurnStarted',
        ...base(1),
        turn: { number: 1, session: { title: 'talk' }, userMessage: { content: 'question' } },
      },
      { __typename: 'ThinkingDelta', ...base(2), step: 1, delta: 'hm' },
      { __typename: 'TextDelta', ...base(3), step: 1, messageId, delta: 'Hello' },
      {
        __typename: 'StepCompleted',
        ...base(4),
        step: 1,
        usage: { totalTokens: 5, estimated: true },
        costUsd: 0.0000137,
        budget: { spentCostUsd: 0, shared: false },
      },
      {
        __typename: 'TurnCompleted',
        ...base(5),
        response: { ...response, tokensUsed: 5, message: { id: messageId }, session: { totalCostUsd: 0 } },
      },
      {
        __typename: 'TurnFailed',
        ...base(6),
        error: { code: 'PROVIDER_TIMEOUT', message: expect.stringContaining('took too long'), retryable: true },
        response,
      },
      { __typename: 'TurnStopped', ...base(7), response: { ...response, finishReason: 'STOP' } },
    ]);

    const stored = await api.run(ada, 'query ($id: ID!) { node(id: $id) { ... on Message { content } } }', {
      id: messageId,
    });
    expect(stored.data.node).toEqual({ content: 'Hello' });
    await events.return?.();
  });

  it('end the moment the client leaves, also while the turn is silent', async () => {
    const cursor = cursorOver([{ type: 'TurnStarted' }]);
    const chat: Partial<ChatService> = { turnEvents: async () => cursor };
    const document = 'subscription ($turnId: ID!) { turnEvents(turnId: $turnId) { __typename } }';
    const events = (await follow(
      document,
      { turnId: globalId('Turn', ids.turn) },
      chat,
    )) as AsyncIterableIterator<unknown>;
    await events.next();
    const waiting = events.next();
    const before = performance.now();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(performance.now() - before).toBeLessThan(50);
    expect(cursor.returned).toBe(true);
  });

  it('see what other sessions do to a shared budget in between', async () => {
    const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0, estimated: false };
    const step = { type: 'StepCompleted', step: 1, usage, costUsd: 0, ...judged } as const;
    const cursor = cursorOver([step, step]);
    const document = `subscription ($turnId: ID!) { turnEvents(turnId: $turnId) {
      ... on StepCompleted { budget { shared } }
    } }`;
    const events = (await follow(
      document,
      { turnId: globalId('Turn', ids.turn) },
      { turnEvents: async () => cursor },
    )) as AsyncIterableIterator<ExecutionResult>;
    const before = (await events.next()).value;
    const { prisma } = api.database;
    const { budgetId } = await prisma.chatSession.findUniqueOrThrow({ where: { id: ids.session } });
    const other = await rowWriter(prisma).session(ada, { budgetId });
    const after = (await events.next()).value;
    await prisma.chatSession.delete({ where: { id: other } });
    await events.return?.();
    expect(before.data).toEqual({ turnEvents: { budget: { shared: false } } });
    expect(after.data).toEqual({ turnEvents: { budget: { shared: true } } });
  });

  it('read what is stored at the time of each event, not what an earlier event read', async () => {
    const cursor = cursorOver([{ type: 'TurnStarted' }, { type: 'TurnCompleted' }]);
    const chat: Partial<ChatService> = { turnEvents: async () => cursor };
    const document = `subscription ($turnId: ID!) { turnEvents(turnId: $turnId) {
      ... on TurnStarted { turn { session { title history(last: 1) { content } messages { totalCount nodes { content } } } } }
      ... on TurnCompleted { response { session { title history(last: 1) { content } messages { totalCount nodes { content } } } } }
    } }`;
    const events = (await follow(
      document,
      { turnId: globalId('Turn', ids.turn) },
      chat,
    )) as AsyncIterableIterator<ExecutionResult>;
    const first = (await events.next()).value;
    const { prisma } = api.database;
    await prisma.chatSession.update({ where: { id: ids.session }, data: { title: 'renamed' } });
    await prisma.message.update({ where: { id: ids.message }, data: { content: 'Hello again' } });
    const last = (await events.next()).value;
    await prisma.chatSession.update({ where: { id: ids.session }, data: { title: 'talk' } });
    await prisma.message.update({ where: { id: ids.message }, data: { content: 'Hello' } });
    await events.return?.();
    const talk = (title: string, content: string) => ({
      title,
      history: [{ content }],
      messages: { totalCount: 2, nodes: [{ content: 'question' }, { content }] },
    });
    expect(first.data).toEqual({ turnEvents: { turn: { session: talk('talk', 'Hello') } } });
    expect(last.data).toEqual({ turnEvents: { response: { session: talk('renamed', 'Hello again') } } });
  });
});

describe('subscribing', () => {
  const stream = 'subscription ($input: StreamInput!) { stream(input: $input) { __typename } }';

  it('hands message, cursor and the id of the operation to the chat', async () => {
    const asked: unknown[] = [];
    const chat: Partial<ChatService> = {
      stream: async (...args) => {
        asked.push(args);
        return cursorOver([]);
      },
    };
    const input = {
      sessionId: globalId('ChatSession', ids.session),
      message: ' hi ',
      clientMessageId: 'c1',
      after: 'at-3',
    };
    const events = (await follow(stream, { input }, chat, 'op-7')) as AsyncIterableIterator<unknown>;
    await events.return?.();
    const message = {
      sessionId: ids.session,
      message: ' hi ',
      clientMessageId: 'c1',
      whenBusy: 'REJECT',
      operationId: 'op-7',
    };
    expect(asked).toEqual([[ada, message, 'at-3']]);
  });

  it.each([
    ['a malformed session id', { sessionId: 'nonsense', message: 'hi' }, 'BAD_USER_INPUT'],
    [
      'the id of something else',
      { sessionId: globalId('Turn', '0190a000-0000-7000-8000-00000000000b'), message: 'hi' },
      'BAD_USER_INPUT',
    ],
    [
      'what the chat refuses',
      { sessionId: globalId('ChatSession', '0190a000-0000-7000-8000-00000000000b'), message: 'hi' },
      'TURN_IN_PROGRESS',
    ],
  ])('is refused with a code for %s', async (_what, input, code) => {
    const chat: Partial<ChatService> = {
      stream: async () => {
        throw new ChatError('TURN_IN_PROGRESS');
      },
    };
    expect(codesOf((await follow(stream, { input }, chat)) as ExecutionResult)).toEqual([{ code, path: 'stream' }]);
  });

  it('uses no async generator, whose end waits for its next value', async () => {
    for (const field of Object.values(api.schema.getSubscriptionType()?.getFields() ?? {})) {
      expect(field.subscribe?.constructor.name, field.name).not.toBe('AsyncGeneratorFunction');
    }
  });
});
