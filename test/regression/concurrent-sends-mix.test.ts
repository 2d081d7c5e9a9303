import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, type Result } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn, textOf } from '../support/client.js';
import { deferred } from '../support/deferred.js';
import * as script from '../support/script.js';
import { startSecondApp } from '../support/second-app.js';

// Field reports A18 and A21: two runs on one conversation mix their replies, and the retry of a request that had landed
// makes a second turn.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

describe('sends at the same time', () => {
  it('without a client id: one is answered, the others are told that a turn is running', async () => {
    const id = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('the one answer', { usage: { prompt: 1, completion: 1 } })]);
    const before = app.provider.requests.length;
    const results: Result[] = [];
    const fourRefused = deferred();
    const sends = Array.from({ length: 5 }, async (_, at) => {
      const result = await client.trySend(id, `question ${at}`);
      results[at] = result;
      if (results.filter(Boolean).length === 4) fourRefused.resolve();
    });
    await fourRefused.promise;
    expect(results.flatMap(codesOf)).toEqual(Array.from({ length: 4 }, () => 'TURN_IN_PROGRESS'));
    gate.open();
    await Promise.all(sends);
    expect(results.filter((result) => result.data?.send.content === 'the one answer')).toHaveLength(1);
    const session = await client.session(id);
    expect(session).toMatchObject({ turnCount: 1, messageCount: 2 });
    expect(app.provider.requests.length - before).toBe(1);
    const winner = results.findIndex((result) => result.data);
    expect(session.history[0].content).toBe(`question ${winner}`);
    for (const result of results.filter((one) => one.errors)) {
      expect(result.errors?.[0]?.extensions?.turnId).toBe(session.turns.nodes[0].id);
    }
  });

  it('to three servers: of 30 one is answered, the others are told that a turn is running', async () => {
    const others = await Promise.all([startSecondApp(app), startSecondApp(app)]);
    const clients = [client, ...others.map(({ url }) => chatClient(url))];
    const id = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('the one answer')]);
    const before = app.provider.requests.length;
    const restRefused = deferred();
    let refused = 0;
    const sends = Array.from({ length: 30 }, async (_, at) => {
      const result = await (clients[at % 3] ?? client).trySend(id, `question ${at}`);
      if (result.errors) refused += 1;
      if (refused === 29) restRefused.resolve();
      return result;
    });
    await restRefused.promise;
    gate.open();
    const results = await Promise.all(sends);
    expect(results.flatMap(codesOf)).toEqual(Array.from({ length: 29 }, () => 'TURN_IN_PROGRESS'));
    expect(results.filter(({ data }) => data?.send.content === 'the one answer')).toHaveLength(1);
    expect(app.provider.requests.length - before).toBe(1);
    expect(await client.session(id)).toMatchObject({ turnCount: 1, messageCount: 2, activeTurn: null });
    await Promise.all(others.map((other) => other.close()));
  }, 30_000);

  it('with one client id: one turn, one request, eight equal answers, and the same again later', async () => {
    const id = await client.createSession();
    const before = app.provider.requests.length;
    const send = () => client.send(id, 'once', { clientMessageId: 'same' });
    const answers = await Promise.all(Array.from({ length: 8 }, send));
    answers.push(await send());
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(app.provider.requests.length - before).toBe(1);
    expect(await client.session(id)).toMatchObject({ turnCount: 1, messageCount: 2 });
  });

  it('pairs every reply with its own question when each waits for its turn', async () => {
    const id = await client.createSession();
    for (let at = 0; at < 5; at += 1) {
      expect((await client.send(id, `mark ${at}`)).content).toBe(`echo: mark ${at}`);
    }
    const { history } = await client.session(id);
    for (let at = 0; at < 5; at += 1) {
      expect(history[2 * at + 1].content).toBe(`echo: ${history[2 * at].content}`);
    }
  });
});

describe('a retry of a call that had landed', () => {
  it('with a client id finds the turn, also after the connection was cut', async () => {
    const id = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([
      script.text('kept'),
      script.pause(gate),
      script.finish('stop'),
      script.usage({ prompt: 1, completion: 1 }),
    ]);
    const count = app.provider.requests.length;
    const input = { clientMessageId: 'landed' };
    const cut = openTurn(app.url, 'ws', id, 'did it land?', input);
    const first = await cut.next();
    cut.leave();
    await gate.reached;
    const retry = openTurn(app.url, 'sse', id, 'did it land?', input);
    gate.open();
    const events = await retry.rest();
    expect(events[0].turnId).toBe(first.turnId);
    expect(textOf(events)).toBe('kept');
    const sent = await client.send(id, 'did it land?', input);
    expect(sent.turn.id).toBe(first.turnId);
    expect(app.provider.requests.length - count).toBe(1);
  });

  it('with the same client id but another text is refused, and changes nothing', async () => {
    const id = await client.createSession();
    await client.send(id, 'text', { clientMessageId: 'key' });
    const before = await client.session(id);
    const reused = await client.trySend(id, 'texts', { clientMessageId: 'key' });
    expect(codesOf(reused)).toEqual(['IDEMPOTENCY_KEY_REUSED']);
    expect(await client.session(id)).toEqual(before);
  });

  it('after a refusal may use its id again', async () => {
    const id = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('first', { usage: { prompt: 1, completion: 1 } })]);
    const running = client.send(id, 'long');
    await gate.reached;
    expect(codesOf(await client.trySend(id, 'mine', { clientMessageId: 'again' }))).toEqual(['TURN_IN_PROGRESS']);
    gate.open();
    await running;
    expect((await client.send(id, 'mine', { clientMessageId: 'again' })).content).toBe('echo: mine');
  });

  it('without a client id is another turn', async () => {
    const id = await client.createSession();
    await client.send(id, 'twice');
    expect((await client.send(id, 'twice')).turn.number).toBe(2);
  });
});
