import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openTurn, type Transport, textOf } from '../../support/client.js';
import * as script from '../../support/script.js';
import { type SecondApp, startSecondApp } from '../../support/second-app.js';

let app: TestApp;
let second: SecondApp;
let client: ChatClient;
let there: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ MAX_QUEUED_TURNS: '25' });
  second = await startSecondApp(app, { MAX_QUEUED_TURNS: '25' });
  client = chatClient(app.url);
  there = chatClient(second.url);
});
afterAll(async () => {
  await second.close();
  await app.close();
});

const ENQUEUE = { whenBusy: 'ENQUEUE' };

/** A turn on the first server that writes a word and then waits for its gate. */
async function startHeldTurn(sessionId: string) {
  const gate = script.gate();
  app.provider.enqueue([script.text('working '), script.pause(gate), script.reply('done')]);
  const events = openTurn(app.url, 'ws', sessionId, 'long');
  await events.until(({ __typename }) => __typename === 'TextDelta');
  await gate.reached;
  return { events, open: gate.open };
}

/** Resolves when this many turns of the session have been accepted. */
async function untilAccepted(sessionId: string, turns: number) {
  await expect.poll(async () => (await client.session(sessionId)).turnCount, { timeout: 8_000 }).toBe(turns);
}

describe('whenBusy: ENQUEUE', () => {
  it('keeps 20 messages from two servers in one order, and each reply beside its question', async () => {
    const id = await client.createSession();
    const held = await startHeldTurn(id);
    const sends = Array.from({ length: 20 }, (_, at) => (at % 2 ? there : client).send(id, `mark ${at}`, ENQUEUE));
    await untilAccepted(id, 21);
    held.open();
    const replies = await Promise.all(sends);
    for (const [at, { content }] of replies.entries()) expect(content).toBe(`echo: mark ${at}`);
    const session = await client.session(id);
    expect(session).toMatchObject({ turnCount: 21, messageCount: 42, activeTurn: null });
    const turns: { status: string; userMessage: { content: string } }[] = session.turns.nodes;
    expect(turns.map(({ status }) => status)).toEqual(Array.from({ length: 21 }, () => 'COMPLETED'));
    expect(session.history.map(({ content }: { content: string }) => content)).toEqual(
      turns.flatMap(({ userMessage: { content } }, at) => [content, at === 0 ? 'working done' : `echo: ${content}`]),
    );
    expect(app.provider.violations).toEqual([]);
  }, 60_000);

  it('shows what is queued, and the first of it as active when nothing runs yet', async () => {
    const id = await client.createSession();
    const held = await startHeldTurn(id);
    const sending = client.send(id, 'waits', ENQUEUE);
    await untilAccepted(id, 2);
    const session = await client.session(id);
    expect(session.activeTurn).toEqual({ id: session.turns.nodes[0].id, status: 'RUNNING' });
    expect(session.turns.nodes[1]).toMatchObject({ status: 'QUEUED', finishReason: null });
    expect(session.history.map(({ content }: { content: string }) => content)).not.toContain('waits');
    held.open();
    expect(await sending).toMatchObject({ content: 'echo: waits', turn: { number: 2 } });
  });

  it.each<[Transport, string]>([
    ['ws', 'the same server'],
    ['sse', 'the same server'],
    ['ws', 'another server'],
    ['sse', 'another server'],
  ])('streams over %s from %s: nothing while it waits, everything once it runs', async (transport, where) => {
    const id = await client.createSession();
    const held = await startHeldTurn(id);
    const url = where === 'another server' ? second.url : app.url;
    const waiting = openTurn(url, transport, id, 'mine', { ...ENQUEUE, clientMessageId: 'mine' });
    await untilAccepted(id, 2);
    const gate = script.gate();
    app.provider.enqueue([script.text('first words'), script.pause(gate), script.reply('')]);
    held.open();
    const ended = await held.events.until(({ __typename }) => __typename === 'TurnCompleted');
    const endedAt = performance.now();
    expect(await waiting.next()).toMatchObject({ __typename: 'TurnStarted', turn: { number: 2 } });
    expect(performance.now() - endedAt).toBeLessThan(1_500);
    const delta = await waiting.until(({ __typename }) => __typename === 'TextDelta');
    expect(delta.sequence).toBeGreaterThan(ended.sequence);
    gate.open();
    expect((await waiting.rest()).at(-1)).toMatchObject({ __typename: 'TurnCompleted' });
    const again = await openTurn(url, transport, id, 'mine', { ...ENQUEUE, clientMessageId: 'mine' }).rest();
    expect(textOf(again)).toBe('first words');
  });
});

describe('whenBusy: INTERRUPT', () => {
  it('from another server closes the connection to the provider within a second and keeps the part', async () => {
    const id = await client.createSession();
    const held = await startHeldTurn(id);
    const request = app.provider.requests.at(-1);
    const asked = performance.now();
    const hungUp = request?.hungUp.then(() => performance.now() - asked);
    const reply = await there.send(id, 'now', { whenBusy: 'INTERRUPT' });
    expect(await hungUp).toBeLessThan(1_500);
    expect(reply).toMatchObject({ content: 'echo: now', turn: { number: 2 } });
    expect((await held.events.rest()).at(-1)).toMatchObject({ __typename: 'TurnStopped' });
    const { history } = await client.session(id);
    expect(history.map(({ content, status }: Record<string, unknown>) => [content, status])).toEqual([
      ['long', 'COMPLETE'],
      ['working ', 'PARTIAL'],
      ['now', 'COMPLETE'],
      ['echo: now', 'COMPLETE'],
    ]);
    expect(app.provider.violations).toEqual([]);
  });

  it('starts at once in a session that is free, and takes no other value', async () => {
    const id = await client.createSession();
    expect((await client.send(id, 'hi', { whenBusy: 'INTERRUPT' })).content).toBe('echo: hi');
    expect((await client.send(id, 'hi', { whenBusy: null })).content).toBe('echo: hi');
    expect(codesOf(await client.trySend(id, 'hi', { whenBusy: 'LATER' }))).toEqual(['BAD_USER_INPUT']);
  });
});
