import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../clients/results.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import * as documents from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';

// Field reports A17 and A22: a stop claims success when nothing was stopped, and one of a turn whose process has died
// leaves the session busy for ever.
let app: TestApp;
let second: SecondApp;
let client: ChatClient;
let there: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  second = await startSecondApp(app);
  client = chatClient(app.url);
  there = chatClient(second.url);
});
afterAll(async () => {
  await second.close();
  await app.close();
});

describe('the answer of stop', () => {
  it('is null when nothing ran, the turn when it was stopped, and null again for the second time', async () => {
    const id = await client.createSession();
    expect(await client.stop(id)).toBeNull();
    const finished = (await client.send(id, 'hi')).turn.id;
    expect(await client.stop(id)).toBeNull();
    expect(await client.stop(id, finished)).toBeNull();
    app.provider.enqueue([script.text('part'), script.silence()]);
    const events = openTurn(app.url, 'ws', id, 'long');
    const started = await events.next();
    await events.until(({ __typename }) => __typename === 'TextDelta');
    expect(await there.stop(id)).toEqual({ id: started.turnId, status: 'STOPPED', finishReason: 'STOPPED' });
    expect(await client.stop(id)).toBeNull();
    expect(await there.stop(id, started.turnId)).toBeNull();
    expect((await events.rest()).at(-1)).toMatchObject({ __typename: 'TurnStopped' });
  });

  it('is an error for a turn of another session, which goes on', async () => {
    const id = await client.createSession();
    const other = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('whole')]);
    const sending = client.send(id, 'mine');
    await gate.reached;
    const { activeTurn } = await client.session(id);
    const wrong = await client.run(documents.stop, { sessionId: other, turnId: activeTurn.id });
    expect(codesOf(wrong)).toEqual(['NOT_FOUND']);
    gate.open();
    expect((await sending).content).toBe('whole');
  });
});

describe('a turn whose server has died', () => {
  it('is ended by a stop on another server once that has taken it over, and the session goes on', async () => {
    const lease = { TURN_LEASE_MS: '3000' };
    const dying = await startSecondApp(app, lease, {
      failpoint: (name) => (name === 'after-accept' ? new Promise<void>(() => {}) : undefined),
    });
    const id = await client.createSession();
    // The turn is accepted and its server does nothing about it any more, as one that was killed then.
    const lost = chatClient(dying.url)
      .trySend(id, 'lost')
      .catch(() => {});
    await expect.poll(async () => (await client.session(id)).activeTurn?.status).toBe('RUNNING');
    expect(await client.stop(id)).toMatchObject({ status: 'STOPPED' });
    expect((await client.send(id, 'next')).content).toBe('echo: next');
    expect(app.provider.violations).toEqual([]);
    await dying.close();
    await lost;
  });
});
