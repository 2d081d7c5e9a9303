import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openEvents } from '../../support/client.js';
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

const answer = (text: string) => script.reply(text, { usage: { prompt: 100, completion: 10 } });
const tryRegenerate = (sessionId: string, clientMessageId?: string) =>
  client.run(documents.regenerate, { input: { sessionId, clientMessageId } });
const contents = (session: { history: { content: string }[] }) => session.history.map(({ content }) => content);
const lastPrompt = () => app.provider.requests.at(-1)?.body.messages ?? [];

describe('regenerate', () => {
  it('replaces the reply; the old turn keeps its record and its cost', async () => {
    const id = await client.createSession();
    await client.send(id, 'before');
    app.provider.enqueue(answer('first try'), answer('second try'), answer('third try'));
    const first = await client.send(id, 'question', { images: [pixel, 'https://example.com/a.png'] });
    const second = await client.regenerate(id);
    expect(second).toMatchObject({
      content: 'second try',
      turn: { number: 3, status: 'COMPLETED' },
      session: { turnCount: 3, messageCount: 4 },
    });
    expect(second.session.totalCostUsd).toBeCloseTo(first.session.totalCostUsd + first.costUsd, 12);
    await client.regenerate(id);
    expect(JSON.stringify(lastPrompt())).not.toMatch(/first try|second try/);
    expect(lastPrompt().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(JSON.stringify(lastPrompt().at(-1))).toContain(pixel);
    expect(JSON.stringify(lastPrompt().at(-1))).toContain('https://example.com/a.png');

    const session = await client.session(id);
    expect(contents(session)).toEqual(['before', 'echo: before', 'question', 'third try']);
    expect(session).toMatchObject({ turnCount: 4, messageCount: 4, modelCalls: { totalCount: 4 } });
    expect(session.turns.nodes.map((turn: { messages: unknown }) => turn.messages)).toMatchObject([
      [{ content: 'before' }, { content: 'echo: before' }],
      [{ content: 'question' }, { content: 'first try' }],
      [{ content: 'question' }, { content: 'second try' }],
      [{ content: 'question' }, { content: 'third try' }],
    ]);
    const spent = session.modelCalls.nodes.reduce((sum: number, call: { costUsd: number }) => sum + call.costUsd, 0);
    expect(session.totalCostUsd).toBeCloseTo(spent, 12);
    expect(session.budget.spentCostUsd).toBeCloseTo(spent, 12);
    const started = session.traceEvents.nodes.filter(({ type }: { type: string }) => type === 'TURN_STARTED');
    expect(started.at(-1).data).toEqual({ regenerates: 3, dropped: 2 });
    await client.send(id, 'next');
    expect(app.provider.violations).toEqual([]);
  });

  it('tries a turn again that failed or was stopped', async () => {
    const id = await client.createSession();
    app.provider.enqueue([script.httpError(401)]);
    expect((await client.trySend(id, 'please')).errors).toHaveLength(1);
    const gate = script.gate();
    app.provider.enqueue([script.text('half a '), script.pause(gate)]);
    const stopped = client.regenerate(id);
    await gate.reached;
    await client.stop(id);
    expect(await stopped).toMatchObject({ finishReason: 'STOPPED', content: 'half a ' });
    expect(await client.regenerate(id)).toMatchObject({ content: 'echo: please', session: { messageCount: 2 } });
    expect(contents(await client.session(id))).toEqual(['please', 'echo: please']);
    expect(
      lastPrompt()
        .map(({ content }) => content)
        .slice(1),
    ).toEqual(['please']);
    app.provider.enqueue([script.httpError(401)]);
    expect((await tryRegenerate(id)).errors?.[0]?.extensions).toMatchObject({
      code: 'PROVIDER_AUTH',
      turnId: expect.any(String),
    });
    expect(contents(await client.session(id))).toEqual(['please']);
    expect(app.provider.violations).toEqual([]);
  });

  it('with the same clientMessageId gives the same turn, also long after', async () => {
    const id = await client.createSession();
    await client.send(id, 'hello', { clientMessageId: 'sent' });
    const all = await Promise.all(Array.from({ length: 10 }, () => client.regenerate(id, 'again')));
    expect(new Set(all.map(({ turn }) => turn.id)).size).toBe(1);
    await client.send(id, 'more', { clientMessageId: 'more' });
    expect((await client.regenerate(id, 'again')).turn.id).toBe(all[0].turn.id);
    expect(await client.session(id)).toMatchObject({
      turnCount: 3,
      messageCount: 4,
      history: [{ clientMessageId: 'again' }, {}, { clientMessageId: 'more' }, {}],
    });
    expect(codesOf(await tryRegenerate(id, 'sent'))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
    const sent = await client.trySend(id, 'hello', { clientMessageId: 'again' });
    expect(codesOf(sent)).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  });

  it('says what to do when there is nothing to regenerate', async () => {
    const id = await client.createSession();
    const none = await tryRegenerate(id);
    expect(none.errors?.[0]).toMatchObject({
      message: expect.stringContaining('no turn has run'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    await client.send(id, 'hello');
    await client.seed(id, [{ role: 'USER', content: 'seeded' }]);
    const seeded = await tryRegenerate(id, 'key');
    expect(seeded.errors?.[0]).toMatchObject({
      message: expect.stringContaining('behind the last turn'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    // The refusal stored nothing and has not used up the id.
    expect(await client.session(id)).toMatchObject({ turnCount: 1, messageCount: 3 });
    await client.send(id, 'goes on', { clientMessageId: 'key' });
    expect(await client.regenerate(id)).toMatchObject({ session: { messageCount: 5 } });
    expect(codesOf(await tryRegenerate(await client.fork(id)))).toEqual(['BAD_USER_INPUT']);
  });

  it('is refused like a message', async () => {
    const id = await client.createSession({ tools: [], budget: { maxTokens: 110 } });
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), answer('done')]);
    const running = client.send(id, 'wait');
    await gate.reached;
    const busy = await tryRegenerate(id);
    expect(busy.errors?.[0]?.extensions).toMatchObject({ code: 'TURN_IN_PROGRESS', turnId: expect.any(String) });
    gate.open();
    await running;
    expect(codesOf(await tryRegenerate(id))).toEqual(['BUDGET_EXCEEDED']);
    await client.run('mutation ($id: ID!) { closeChatSession(id: $id) { id } }', { id });
    expect(codesOf(await tryRegenerate(id))).toEqual(['SESSION_CLOSED']);
    await client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id });
    expect(codesOf(await tryRegenerate(id))).toEqual(['NOT_FOUND']);
    expect(codesOf(await tryRegenerate(await client.createSession(), ' '))).toEqual(['BAD_USER_INPUT']);
  });

  it.each([0, 1, 2, 3])('keeps to maxHistory %i', async (maxHistory) => {
    const id = await client.createSession({ maxHistory });
    await client.send(id, 'one');
    await client.send(id, 'two');
    expect(await client.regenerate(id)).toMatchObject({ content: 'echo: two' });
    const session = await client.session(id);
    const all = maxHistory === 3 ? ['echo: one', 'two', 'echo: two'] : ['two', 'echo: two'];
    expect(contents(session)).toEqual(all.slice(all.length - Math.min(maxHistory, all.length)));
    expect(session.messageCount).toBe(session.history.length);
    expect(app.provider.violations).toEqual([]);
  });

  it('tells its turn like any other, and the old one is told as it was', async () => {
    const id = await client.createSession();
    const first = await client.send(id, 'hello');
    const second = await client.regenerate(id);
    for (const { turn } of [first, second]) {
      const events = await openEvents(app.url, 'sse', documents.turnEvents, { turnId: turn.id }).rest();
      expect(events.map((event) => event.__typename)).toEqual([
        'TurnStarted',
        'ContextReported',
        'TextDelta',
        'StepCompleted',
        'TurnCompleted',
      ]);
      expect(events[0].turn.userMessage.content).toBe('hello');
    }
  });
});

describe('regenerate and send at once', () => {
  it('let one of them in, and the history stays whole', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const id = await client.createSession();
      await client.send(id, 'hello');
      const gate = script.gate();
      app.provider.onRequest(() => [script.pause(gate), answer('new')]);
      const send = () => client.trySend(id, 'next');
      const again = () => tryRegenerate(id);
      const calls = (attempt % 2 ? [send, again, send, again] : [again, send, again, send]).map((call) => call());
      // Three are refused while the fourth runs.
      const refused = await firstOf(3, calls);
      expect(refused.flatMap(codesOf)).toEqual(['TURN_IN_PROGRESS', 'TURN_IN_PROGRESS', 'TURN_IN_PROGRESS']);
      gate.open();
      await Promise.all(calls);
      app.provider.onRequest(() => undefined);
      const session = await client.session(id);
      expect(session.turnCount).toBe(2);
      expect([
        ['hello', 'new'],
        ['hello', 'echo: hello', 'next', 'new'],
      ]).toContainEqual(contents(session));
      expect(session.messageCount).toBe(session.history.length);
    }
    expect(app.provider.violations).toEqual([]);
  });
});

/** The first results of several calls, in the order in which they come. */
function firstOf<T>(count: number, calls: readonly Promise<T>[]): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const results: T[] = [];
    for (const call of calls) {
      call.then((result) => {
        results.push(result);
        if (results.length === count) resolve(results.slice());
      }, reject);
    }
  });
}
