import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn } from '../../support/client.js';
import { runSql } from '../../support/database-server.js';
import { answerQuestion, sessionEvents } from '../../support/documents.js';
import { lastUserText } from '../../support/provider.js';
import { findRedis } from '../../support/redis-server.js';
import * as script from '../../support/script.js';
import { type SecondApp, startSecondApp } from '../../support/second-app.js';
import { isEnd } from '../../support/told.js';

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

const redis = await findRedis();
const feeds: Record<string, string>[] = [{}, ...(redis === null ? [] : [{ REDIS_URL: redis }])];

describe.each(feeds)('a turn that waits for its user, on two servers with %o', { timeout: 60_000 }, (env) => {
  let app: TestApp;
  let second: SecondApp;
  let client: ChatClient;
  let there: ChatClient;
  beforeAll(async () => {
    app = await startTestApp(env);
    second = await startSecondApp(app, env);
    client = chatClient(app.url);
    there = chatClient(second.url);
  });
  afterEach(() => expect(app.provider.violations).toEqual([]));
  afterAll(async () => {
    await second.close();
    await app.close();
  });

  const ask = script.callTools([{ id: 'q1', name: 'ask_user', arguments: { question: 'Which city?' } }]);

  async function startAsking() {
    const sessionId = await client.createSession();
    app.provider.enqueue(ask);
    const { turn, pendingInput } = await client.send(sessionId, 'plan a trip');
    expect(turn.status).toBe('AWAITING_INPUT');
    return { sessionId, turnId: turn.id as string, requestId: pendingInput.id as string };
  }

  const turnsOf = async (sessionId: string) => {
    const { turns } = await client.session(sessionId);
    return turns.nodes.map(({ status, userMessage }: Event) => [userMessage.content, status]);
  };
  const isQueued = (sessionId: string, count: number) =>
    expect.poll(async () => (await client.session(sessionId)).turnCount, { timeout: 10_000 }).toBe(count);

  /** Leaves a queue that nobody serves, as a lost process does: when it is served, so is every other that may be. */
  async function untilQueuesWereServed() {
    const { sessionId } = await startAsking();
    const queued = client.send(sessionId, 'on its own', { whenBusy: 'ENQUEUE' });
    await isQueued(sessionId, 2);
    const id = Buffer.from(sessionId, 'base64').toString().split(':')[1];
    await runSql(
      app.database.url,
      `UPDATE input_requests SET status = 'CANCELLED', resolved_at = now() WHERE session_id = '${id}';
       UPDATE messages SET trimmed_at = now()
       WHERE turn_id = (SELECT active_turn_id FROM chat_sessions WHERE id = '${id}');
       UPDATE turns SET status = 'STOPPED', finish_reason = 'STOPPED', finished_at = now()
       WHERE session_id = '${id}' AND status = 'AWAITING_INPUT';
       UPDATE chat_sessions SET active_turn_id = NULL WHERE id = '${id}'`,
    );
    await queued;
  }

  it('keeps what is queued behind it, and all of that runs after the answer, in its order', async () => {
    const { sessionId, requestId, turnId } = await startAsking();
    const requests = app.provider.requests.length;
    const followers = [app.url, second.url].map((url) => openEvents(url, 'ws', sessionEvents, { sessionId }));
    const sends = [client.send(sessionId, 'first', { whenBusy: 'ENQUEUE' })];
    await isQueued(sessionId, 2);
    sends.push(there.send(sessionId, 'second', { whenBusy: 'ENQUEUE' }));
    await isQueued(sessionId, 3);
    const waiting = openTurn(second.url, 'sse', sessionId, 'third', { whenBusy: 'ENQUEUE' });
    await isQueued(sessionId, 4);
    await untilQueuesWereServed();
    expect(await turnsOf(sessionId)).toEqual([
      ['plan a trip', 'AWAITING_INPUT'],
      ['first', 'QUEUED'],
      ['second', 'QUEUED'],
      ['third', 'QUEUED'],
    ]);
    expect((await there.session(sessionId)).pendingInput).toMatchObject({ id: requestId, turnId });
    const asked = app.provider.requests.slice(requests).map(lastUserText);
    expect(asked).toEqual(['plan a trip', 'on its own']);

    const beforeAnswer = app.provider.requests.length;
    app.provider.enqueue(script.reply('Rome it is.'));
    const { data } = await there.run(answerQuestion, { input: { requestId, answer: 'Rome' } });
    expect(data.answerQuestion).toMatchObject({ id: turnId });
    expect((await Promise.all(sends)).map(({ content }) => content)).toEqual(['echo: first', 'echo: second']);
    expect((await waiting.rest()).at(-1)).toMatchObject({ response: { content: 'echo: third' } });
    expect(app.provider.requests[beforeAnswer]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Rome' });
    const { history } = await client.session(sessionId);
    expect(history.map(({ content }: Event) => content).filter((content: string) => content !== '')).toEqual([
      'plan a trip',
      'Rome it is.',
      'first',
      'echo: first',
      'second',
      'echo: second',
      'third',
      'echo: third',
    ]);
    for (const follower of followers) {
      const ends: string[] = [];
      while (ends.length < 4) ends.push((await follower.until(isEnd)).response.content);
      expect(ends).toEqual(['Rome it is.', 'echo: first', 'echo: second', 'echo: third']);
      follower.leave();
    }
  });

  it.each([
    ['the server that asked', () => client],
    ['the other server', () => there],
  ])('and a message to %s that interrupts closes the question, with all that is queued', async (_which, sender) => {
    const { sessionId, requestId, turnId } = await startAsking();
    const followers = [app.url, second.url].map((url) => openEvents(url, 'sse', sessionEvents, { sessionId }));
    for (const follower of followers) await follower.until(({ __typename }) => __typename === 'InputRequested');
    const queued = client.trySend(sessionId, 'never mind', { whenBusy: 'ENQUEUE' });
    await isQueued(sessionId, 2);
    const requests = app.provider.requests.length;
    const reply = await sender().send(sessionId, 'forget it', { whenBusy: 'INTERRUPT' });
    expect(reply).toMatchObject({ content: 'echo: forget it', turn: { number: 3 } });
    expect((await queued).data.send).toMatchObject({ finishReason: 'STOPPED', content: '' });
    expect(await turnsOf(sessionId)).toEqual([
      ['plan a trip', 'STOPPED'],
      ['never mind', 'STOPPED'],
      ['forget it', 'COMPLETED'],
    ]);
    expect((await there.session(sessionId)).pendingInput).toBeNull();
    const late = await there.run(answerQuestion, { input: { requestId, answer: 'Rome' } });
    expect(codesOf(late)).toEqual(['INPUT_ALREADY_RESOLVED']);
    // Only the message that interrupted was told to the model, after a question that nobody answered.
    expect(app.provider.requests).toHaveLength(requests + 1);
    expect(app.provider.requests.at(-1)?.body.messages.slice(-2)).toMatchObject([
      { role: 'tool', tool_call_id: 'q1', content: expect.stringContaining('stopped') },
      { role: 'user', content: 'forget it' },
    ]);
    for (const follower of followers) {
      const seen: Event[] = [];
      await follower.until((event) => {
        seen.push(event);
        return event.__typename === 'TurnCompleted';
      });
      const [resolved] = seen;
      expect(resolved).toMatchObject({ __typename: 'InputResolved', requestId, turnId });
      expect(seen.filter(isEnd)).toMatchObject([
        { __typename: 'TurnStopped', turnId },
        { __typename: 'TurnCompleted', turnId: reply.turn.id },
      ]);
      follower.leave();
    }
  });
});
