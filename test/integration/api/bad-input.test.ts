import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../../support/client.js';
import * as documents from '../../support/documents.js';

let app: TestApp;
let client: ChatClient;
let id: string;
let messageId: string;
const unknown = Buffer.from('ChatSession:01989f3e-0000-7000-8000-0123456789ab').toString('base64');

beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
  id = await client.createSession();
  messageId = (await client.send(id, 'hello')).message.id;
});
afterAll(() => app.close());

const ten = 10 * 1024 * 1024;
const sends: readonly [string, () => Record<string, unknown>, string, RegExp][] = [
  ['an empty message', () => ({ message: '' }), 'BAD_USER_INPUT', /message is empty: write something/],
  ['a blank message', () => ({ message: ' \n\t ' }), 'BAD_USER_INPUT', /message is empty/],
  ['a NUL', () => ({ message: 'a\0b' }), 'BAD_USER_INPUT', /U\+0000/],
  ['a lone surrogate', () => ({ message: 'a\ud83d' }), 'BAD_USER_INPUT', /surrogate/],
  [
    'a 10 MB message',
    () => ({ message: 'x'.repeat(ten) }),
    'BAD_USER_INPUT',
    /10485760 bytes of UTF-8 and the limit is 1048576/,
  ],
  ['an unknown session', () => ({ sessionId: unknown }), 'NOT_FOUND', /no such object, or it is not yours/],
  ['a malformed id', () => ({ sessionId: 'abc' }), 'BAD_USER_INPUT', /sessionId/],
  ['a raw UUID as id', () => ({ sessionId: '01989f3e-0000-7000-8000-0123456789ab' }), 'BAD_USER_INPUT', /sessionId/],
  ['the id of a message', () => ({ sessionId: messageId }), 'BAD_USER_INPUT', /ChatSession/],
  [
    'an id with SQL in it',
    () => ({ sessionId: Buffer.from("ChatSession:' OR 1=1").toString('base64') }),
    'BAD_USER_INPUT',
    /sessionId/,
  ],
  ['a file path as image', () => ({ images: ['/etc/passwd'] }), 'BAD_USER_INPUT', /images\[0\] must be an https URL/],
  ['raw base64 as image', () => ({ images: ['iVBORw0KGgo='] }), 'BAD_USER_INPUT', /images\[0\]/],
  ['a data URI that lies', () => ({ images: ['data:image/png;base64,AAAA'] }), 'BAD_USER_INPUT', /is not what it says/],
  ['a blank client id', () => ({ clientMessageId: ' ' }), 'BAD_USER_INPUT', /clientMessageId is empty/],
  ['a client id without end', () => ({ clientMessageId: 'x'.repeat(256) }), 'BAD_USER_INPUT', /the limit is 255/],
  [
    'a client id with a control character',
    () => ({ clientMessageId: 'a\u0007' }),
    'BAD_USER_INPUT',
    /control characters/,
  ],
];

describe('send and stream refuse, before any model call and with nothing stored,', () => {
  it.each(sends)('%s', async (_what, more, code, sentence) => {
    const before = [await client.session(id), app.provider.requests.length];
    const input = { sessionId: id, message: 'fine', ...more() };
    const sent = await client.run(documents.send, { input });
    expect(codesOf(sent)).toEqual([code]);
    expect(sent.errors?.[0]?.message).toMatch(sentence);
    const { sessionId, message, ...rest } = input as { sessionId: string; message: string };
    for (const transport of ['ws', 'sse'] as const) {
      await expect(openTurn(app.url, transport, sessionId, message, rest).rest()).rejects.toThrow(code);
    }
    expect([await client.session(id), app.provider.requests.length]).toEqual(before);
  });

  it('a closed session', async () => {
    const closed = await client.createSession();
    await client.run('mutation ($id: ID!) { closeChatSession(id: $id) { id } }', { id: closed });
    const sent = await client.trySend(closed, 'anybody there?');
    expect(codesOf(sent)).toEqual(['SESSION_CLOSED']);
    expect((await client.session(closed)).turnCount).toBe(0);
  });
});

const creations: readonly [string, Record<string, unknown>, string, RegExp][] = [
  ['an unknown model', { model: 'gpt-99' }, 'BAD_USER_INPUT', /no model of that name.*scripted/],
  ['a negative maxHistory', { maxHistory: -1 }, 'BAD_USER_INPUT', /maxHistory is -1/],
  ['no steps at all', { maxStepsPerTurn: 0 }, 'BAD_USER_INPUT', /maxStepsPerTurn is 0/],
  ['too many steps', { maxStepsPerTurn: 1_000_000 }, 'BAD_USER_INPUT', /from 1 to 100/],
  ['a negative cost limit', { budget: { maxCostUsd: -0.5 } }, 'BAD_USER_INPUT', /budget.maxCostUsd is -0.5/],
  ['a huge cost limit', { budget: { maxCostUsd: 1e300 } }, 'BAD_USER_INPUT', /budget.maxCostUsd/],
  ['a negative token limit', { budget: { maxTokens: -1 } }, 'BAD_USER_INPUT', /budget.maxTokens/],
  ['a temperature out of range', { temperature: 3 }, 'BAD_USER_INPUT', /from 0 to 2/],
  ['no output tokens', { maxOutputTokens: 0 }, 'BAD_USER_INPUT', /maxOutputTokens is 0/],
  ['more output than the model gives', { maxOutputTokens: 1_000_000 }, 'BAD_USER_INPUT', /from 1 to 4096/],
  ['a title without end', { title: 'x'.repeat(201) }, 'BAD_USER_INPUT', /201 characters and the limit is 200/],
  ['a NUL in the system prompt', { systemPrompt: '\0' }, 'BAD_USER_INPUT', /systemPrompt contains/],
  ['a NUL deep in metadata', { metadata: { a: [{ b: '\0' }] } }, 'BAD_USER_INPUT', /character U\+0000/],
  ['metadata without end', { metadata: { a: 'x'.repeat(70_000) } }, 'BAD_USER_INPUT', /metadata/],
  ['the budget of nobody', { shareBudgetOf: unknown }, 'NOT_FOUND', /shareBudgetOf/],
];

describe('createChatSession refuses, and creates nothing for,', () => {
  it.each(creations)('%s', async (_what, input, code, sentence) => {
    const count = async () => (await client.run('{ viewer { sessionCount } }')).data?.viewer.sessionCount;
    const before = await count();
    const refused = await client.run(documents.createSession, { input });
    expect(codesOf(refused)).toEqual([code]);
    expect(refused.errors?.[0]?.message).toMatch(sentence);
    expect(await count()).toBe(before);
  });

  it('a model without a price under a cost limit, and says what to do', async () => {
    const other = await startTestApp({ MODEL: 'local-model' });
    try {
      const { run, createSession } = chatClient(other.url);
      const refused = await run(documents.createSession, { input: {} });
      expect(codesOf(refused)).toEqual(['MODEL_PRICE_UNKNOWN']);
      expect(refused.errors?.[0]?.message).toMatch(/MODELS|maxCostUsd to null/);
      expect(await createSession({ budget: { maxCostUsd: null } })).toBeTruthy();
    } finally {
      await other.close();
    }
  });
});

describe('queries refuse', () => {
  it.each([
    ['an unknown id', '{ chatSession(id: "ID") { id } }', unknown, 'NOT_FOUND'],
    ['an unknown node', '{ node(id: "ID") { id } }', unknown, 'NOT_FOUND'],
    ['a malformed id', '{ chatSession(id: "ID") { id } }', '%%%', 'BAD_USER_INPUT'],
    ['a negative last', '{ chatSession(id: "ID") { history(last: -1) { id } } }', '', 'BAD_USER_INPUT'],
    ['a negative first', '{ chatSession(id: "ID") { messages(first: -1) { totalCount } } }', '', 'BAD_USER_INPUT'],
    [
      'a foreign cursor',
      '{ chatSession(id: "ID") { messages(first: 1, after: "abc") { nodes { id } } } }',
      '',
      'BAD_USER_INPUT',
    ],
    ['an unknown field', '{ chatSession(id: "ID") { nope } }', '', 'BAD_USER_INPUT'],
    ['a syntax error', '{ chatSession(', '', 'BAD_USER_INPUT'],
  ])('%s', async (_what, document, given, code) => {
    const result = await client.run(document.replace('ID', given || id));
    expect(codesOf(result)).toEqual([code]);
  });

  it('no huge page, but clamp it', async () => {
    const result = await client.run(
      'query ($id: ID!) { chatSession(id: $id) { messages(first: 2147483647) { nodes { id } } } }',
      { id },
    );
    expect(result.errors).toBeUndefined();
  });
});
