import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient } from '../../support/client.js';
import * as documents from '../../support/documents.js';
import { pixel } from '../../support/pixel.js';
import * as script from '../../support/script.js';

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const round = [
  { role: 'USER', content: 'compare' },
  {
    role: 'ASSISTANT',
    content: '',
    toolCalls: [
      { id: 'a', name: 'weather', arguments: { city: 'Oslo' } },
      { id: 'b', name: 'weather', arguments: { city: 'Rome' } },
    ],
  },
  { role: 'TOOL', content: '3 degrees', toolCallId: 'a' },
  { role: 'TOOL', content: '19 degrees', toolCallId: 'b' },
  { role: 'ASSISTANT', content: 'Rome is warmer.' },
];

interface CopiedMessage {
  id: string;
  sequence: number;
  role: string;
  content: string;
  toolCalls: { id: string }[];
}
const copied = async (id: string) => (await client.run(documents.copied, { id })).data.chatSession;
const messagesOf = async (id: string): Promise<CopiedMessage[]> => (await copied(id)).messages.nodes;
const contents = async (id: string) => (await messagesOf(id)).map(({ content }) => content);
const withoutIds = (messages: readonly CopiedMessage[]) => messages.map(({ id: _id, ...message }) => message);
const tryFork = (sessionId: string, more: Record<string, unknown> = {}) =>
  client.run(documents.fork, { input: { sessionId, ...more } });
const lastPrompt = () => app.provider.requests.at(-1)?.body.messages ?? [];

describe('forkChatSession', () => {
  it('copies settings and history, tool calls and images included, and nothing of what was spent', async () => {
    const settings = {
      title: 'Weather',
      systemPrompt: 'Be brief.',
      maxHistory: 50,
      maxStepsPerTurn: 3,
      temperature: 0.25,
      maxOutputTokens: 321,
      metadata: { tags: ['a'] },
    };
    const id = await client.createSession({ ...settings, budget: { maxCostUsd: 2, maxTokens: 9_000 } });
    await client.seed(id, round);
    await client.send(id, 'look', { images: [pixel, 'https://example.com/a.png', pixel], clientMessageId: 'mine' });
    const before = await copied(id);

    const fork = await client.fork(id);
    const copy = await copied(fork);
    expect({ ...copy, messages: withoutIds(copy.messages.nodes).map(plain) }).toEqual({
      ...before,
      messages: withoutIds(before.messages.nodes).map(plain),
    });
    expect(copy.messages.nodes.map(({ sequence }: CopiedMessage) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const ids = [...before.messages.nodes, ...copy.messages.nodes].map((message: CopiedMessage) => message.id);
    expect(new Set(ids).size).toBe(14);

    const session = await client.session(fork);
    expect(session).toMatchObject({
      status: 'OPEN',
      turnCount: 0,
      messageCount: 7,
      totalTokens: 0,
      totalCostUsd: 0,
      budget: { spentCostUsd: 0, spentTokens: 0, remainingCostUsd: 2, remainingTokens: 9_000 },
      turns: { nodes: [] },
      modelCalls: { totalCount: 0 },
      traceEvents: { nodes: [] },
    });
    const read = '{ temperature maxOutputTokens forkedFrom { id temperature forkedFrom { id } } }';
    const settled = await client.run(`query ($id: ID!) { chatSession(id: $id) ${read} }`, { id: fork });
    expect(settled.data.chatSession).toEqual({
      temperature: 0.25,
      maxOutputTokens: 321,
      forkedFrom: { id, temperature: 0.25, forkedFrom: null },
    });
    for (const message of session.history) {
      expect(message).toMatchObject({ turn: null, seeded: false, clientMessageId: null });
    }

    // The copy goes on by itself, with the settings of the original, under a client id that the original has used.
    await client.send(fork, 'and now?', { clientMessageId: 'mine' });
    const request = app.provider.requests.at(-1)?.body;
    expect(request).toMatchObject({ temperature: 0.25 });
    expect(JSON.stringify(request)).toContain('321');
    expect(lastPrompt().map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    const images = ((lastPrompt()[6]?.content ?? []) as { type: string; image_url?: { url: string } }[])
      .filter(({ type }) => type === 'image_url')
      .map(({ image_url }) => image_url?.url);
    expect(images).toEqual([pixel, 'https://example.com/a.png', pixel]);
    expect(app.provider.violations).toEqual([]);
    expect(await copied(id)).toEqual(before);
  });

  it.each([
    [0, 1],
    [1, 4],
    [2, 4],
    [3, 4],
    [4, 5],
  ])('up to message %i of a tool round copies %i messages, calls never without results', async (at, count) => {
    const id = await client.createSession();
    await client.seed(id, round);
    const messages = await messagesOf(id);
    const fork = await client.fork(id, { upToMessageId: messages[at]?.id });
    const copies = await messagesOf(fork);
    expect(withoutIds(copies).map(plain)).toEqual(withoutIds(messages.slice(0, count)).map(plain));
    expect((await client.session(fork)).messageCount).toBe(count);
    await client.send(fork, 'go on');
    expect(app.provider.violations).toEqual([]);
  });

  it('leaves out what a running turn has written, and keeps the part of a stopped one', async () => {
    const id = await client.createSession();
    await client.send(id, 'one');
    const gate = script.gate();
    app.provider.enqueue([script.text('half a '), script.pause(gate)]);
    const running = client.send(id, 'two');
    await gate.reached;
    expect(await contents(await client.fork(id))).toEqual(['one', 'echo: one']);
    const { history, activeTurn } = await client.session(id);
    for (const message of history.slice(2)) {
      const refused = await tryFork(id, { upToMessageId: message.id });
      expect(codesOf(refused)).toEqual(['TURN_IN_PROGRESS']);
      expect(activeTurn.id).toBeTruthy();
      expect(refused.errors?.[0]?.extensions?.turnId).toBeTruthy();
    }
    await client.stop(id);
    await running;
    const fork = await client.fork(id);
    expect((await client.session(fork)).history).toMatchObject([
      { content: 'one', status: 'COMPLETE' },
      { content: 'echo: one', status: 'COMPLETE' },
      { content: 'two', status: 'COMPLETE' },
      { content: 'half a ', status: 'PARTIAL' },
    ]);
  });

  it('refuses a message that is not in the history of that session', async () => {
    const id = await client.createSession({ maxHistory: 2 });
    const other = await client.createSession();
    await client.send(other, 'elsewhere');
    await client.send(id, 'old');
    const old = (await messagesOf(id))[0]?.id;
    await client.send(id, 'new');
    const foreign = await tryFork(id, { upToMessageId: (await messagesOf(other))[0]?.id });
    expect(foreign.errors?.[0]).toMatchObject({
      message: expect.stringContaining('upToMessageId'),
      extensions: { code: 'NOT_FOUND' },
    });
    const trimmed = await tryFork(id, { upToMessageId: old });
    expect(trimmed.errors?.[0]).toMatchObject({
      message: expect.stringContaining('not in the history any more'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(codesOf(await tryFork(id, { upToMessageId: other }))).toEqual(['BAD_USER_INPUT']);
    expect(codesOf(await tryFork(id, { title: 'x'.repeat(201) }))).toEqual(['BAD_USER_INPUT']);
    await client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id: other });
    expect(codesOf(await tryFork(other))).toEqual(['NOT_FOUND']);
  });

  it('takes a title; a closed and an empty session can be copied, and a fork as well', async () => {
    const id = await client.createSession({ title: 'Original' });
    await client.run('mutation ($id: ID!) { closeChatSession(id: $id) { id } }', { id });
    const fork = await client.fork(id, { title: 'Other way' });
    expect(await copied(fork)).toMatchObject({ title: 'Other way', messages: { nodes: [] } });
    expect(await copied(await client.fork(fork, { title: ' ' }))).toMatchObject({ title: null });
    expect(await copied(await client.fork(fork))).toMatchObject({ title: 'Other way' });
    await client.send(fork, 'open');
    expect(await contents(await client.fork(fork))).toEqual(['open', 'echo: open']);
  });

  it('draws on the budget that its original shares with others', async () => {
    const id = await client.createSession({ tools: [], budget: { maxTokens: 85 } });
    await client.createSession({ shareBudgetOf: id });
    const fork = await client.fork(id);
    await client.send(fork, 'hello');
    expect((await client.session(id)).budget.spentTokens).toBe(25);
    await client.send(fork, 'hello');
    expect(codesOf(await client.trySend(id, 'hello'))).toEqual(['BUDGET_EXCEEDED']);
    const alone = await client.createSession({ tools: [], budget: { maxTokens: 75 } });
    await client.send(alone, 'hello');
    expect(codesOf(await client.trySend(alone, 'again'))).toEqual(['BUDGET_EXCEEDED']);
    await client.send(await client.fork(alone), 'again');
  });

  it('makes another session with every call, but one for each clientSessionId', async () => {
    const id = await client.createSession();
    await client.send(id, 'hello');
    expect(await client.fork(id)).not.toBe(await client.fork(id));
    const upToMessageId = (await messagesOf(id))[0]?.id;
    const input = { clientSessionId: 'branch', upToMessageId };
    const all = await Promise.all(Array.from({ length: 10 }, () => client.fork(id, input)));
    expect(new Set(all).size).toBe(1);
    expect(await contents(String(all[0]))).toEqual(['hello']);
    expect(codesOf(await tryFork(id, { clientSessionId: 'branch' }))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
    const created = await client.run(documents.createSession, { input: { clientSessionId: 'branch' } });
    expect(codesOf(created)).toEqual(['IDEMPOTENCY_KEY_REUSED']);
    await client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id });
    expect(await client.fork(id, input)).toBe(all[0]);
  });
});

/** Ids of tool calls are new as well; what they are the ids of stays. */
function plain<Message extends { toolCalls: { id: string }[] }>(message: Message) {
  return { ...message, toolCalls: message.toolCalls.map(({ id: _id, ...call }) => call) };
}
