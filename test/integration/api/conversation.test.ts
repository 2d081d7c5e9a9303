import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openTurn, type Transport, textOf } from '../../support/client.js';
import * as script from '../../support/script.js';

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

describe('a conversation over the wire', () => {
  it('has exact history, counts and totals after two sends', async () => {
    const id = await client.createSession({ systemPrompt: 'Be brief.' });
    app.provider.enqueue(
      script.reply('One.', { usage: { prompt: 100, cached: 40, completion: 7, reasoning: 2 } }),
      script.reply('Two.', { usage: { prompt: 120, completion: 9 } }),
    );
    const first = await client.send(id, 'first', { clientMessageId: 'm1' });
    const second = await client.send(id, 'second');
    expect(first).toMatchObject({
      content: 'One.',
      finishReason: 'STOP',
      tokensUsed: 107,
      toolCallsMade: 0,
      usage: {
        inputTokens: 100,
        cachedInputTokens: 40,
        outputTokens: 7,
        reasoningTokens: 2,
        totalTokens: 107,
        estimated: false,
      },
      turn: { number: 1, status: 'COMPLETED', error: null },
    });
    const session = await client.session(id);
    expect(
      session.history.map((m: { role: string; content: string; sequence: number }) => [m.sequence, m.role, m.content]),
    ).toEqual([
      [1, 'USER', 'first'],
      [2, 'ASSISTANT', 'One.'],
      [3, 'USER', 'second'],
      [4, 'ASSISTANT', 'Two.'],
    ]);
    expect(session.history[0].clientMessageId).toBe('m1');
    expect(session.history[1].id).toBe(first.message.id);
    // 60 × 2.5 + 40 × 1.25 + 7 × 10, and 120 × 2.5 + 9 × 10, in millionths of a dollar.
    expect(first.costUsd).toBe(0.00027);
    expect(second.costUsd).toBe(0.00039);
    expect(session).toMatchObject({
      turnCount: 2,
      messageCount: 4,
      totalTokens: 236,
      totalCostUsd: 0.00066,
      activeTurn: null,
      usage: { inputTokens: 220, cachedInputTokens: 40, outputTokens: 16, reasoningTokens: 2, totalTokens: 236 },
      budget: { spentCostUsd: 0.00066, spentTokens: 236, remainingCostUsd: 9.99934, remainingTokens: 499764 },
    });
    const bodies = app.provider.requests
      .slice(-2)
      .map(({ body }) => body.messages.map(({ role, content }) => [role, content]));
    expect(bodies).toEqual([
      [
        ['system', 'Be brief.'],
        ['user', 'first'],
      ],
      [
        ['system', 'Be brief.'],
        ['user', 'first'],
        ['assistant', 'One.'],
        ['user', 'second'],
      ],
    ]);
    expect(app.provider.violations).toEqual([]);
  });

  it.each<Transport>(['ws', 'sse'])(
    'streams a reply over %s whose deltas join to the stored text',
    async (transport) => {
      const id = await client.createSession();
      app.provider.enqueue([
        script.thinking('Let me see. '),
        script.text('A reply in many pieces: 你好, 👩‍👩‍👧, done.', { chunks: 12 }),
        script.finish('stop'),
        script.usage({ prompt: 10, completion: 20 }),
      ]);
      const events = await openTurn(app.url, transport, id, 'stream it').rest();
      const session = await client.session(id);
      const reply = session.history[1];
      expect(textOf(events)).toBe('A reply in many pieces: 你好, 👩‍👩‍👧, done.');
      expect(reply.content).toBe(textOf(events));
      const deltas = events.filter((event) => event.__typename === 'TextDelta');
      expect(new Set(deltas.map((event) => event.messageId))).toEqual(new Set([reply.id]));
      const kinds = events.map((event) => event.__typename).filter((kind, at, all) => kind !== all[at - 1]);
      expect(kinds).toEqual([
        'TurnStarted',
        'ContextReported',
        'ThinkingDelta',
        'TextDelta',
        'StepCompleted',
        'TurnCompleted',
      ]);
      const sequences = events.map((event) => event.sequence);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      expect(events[0].turn).toMatchObject({ number: 1, userMessage: { content: 'stream it' } });
      expect(events.at(-1).response).toMatchObject({
        content: reply.content,
        message: { id: reply.id, status: 'COMPLETE' },
        session: { turnCount: 1, messageCount: 2, totalTokens: 30 },
      });
      expect(session.turns.nodes[0].id).toBe(events[0].turnId);
    },
  );

  it('finds everything again after a restart', async () => {
    const other = await startTestApp();
    try {
      const before = chatClient(other.url);
      const id = await before.createSession({ title: 'kept', metadata: { theme: 'dark' } });
      await before.send(id, 'remember me');
      const session = await before.session(id);
      const after = chatClient((await other.restart()).url);
      expect(await after.session(id)).toEqual(session);
      const reply = await after.send(id, 'still there?');
      expect(reply.session).toMatchObject({ turnCount: 2, messageCount: 4 });
      expect(other.provider.requests.at(-1)?.body.messages).toHaveLength(4);
    } finally {
      await other.close();
    }
  });
});
