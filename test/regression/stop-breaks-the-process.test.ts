import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

// Field reports A13 and A27: a stop at the wrong moment raises an unhandled rejection, and a stop before any text leaves
// an empty assistant message that strict providers refuse from then on.
let app: TestApp;
let client: ChatClient;
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(async () => {
  process.on('unhandledRejection', note);
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(async () => {
  await app.close();
  process.off('unhandledRejection', note);
});

describe('stopping a turn', () => {
  it('at 200 points of it leaves a settled turn, a whole history and no unhandled rejection', async () => {
    // Some stops find the turn waiting for its next attempt.
    let failing = false;
    app.provider.onRequest(() => {
      if (failing) {
        failing = false;
        return [script.httpError(503)];
      }
      return [
        Array.from({ length: 10 }, (_, at) => [script.text(`${at} `), script.pause(new Promise(setImmediate))]),
        script.finish('stop'),
        script.usage({ prompt: 3, completion: 10 }),
      ];
    });
    const id = await client.createSession({ budget: { maxTokens: null, maxCostUsd: null } });
    // What the first of everything costs is not what is measured.
    await client.send(id, 'warm up');
    await client.stop(id);
    let slowest = 0;
    for (let round = 0; round < 200; round += 1) {
      const isRetrying = round % 13 === 1;
      failing = isRetrying;
      const requests = app.provider.requests.length;
      const turn = openTurn(app.url, round % 2 ? 'ws' : 'sse', id, `round ${round}`);
      // The moment moves from before the first request to after the last chunk.
      for (let seen = 0; seen < round % 13; seen += 1) if ((await turn.next()) === null) break;
      if (isRetrying) await (await app.provider.request(requests)).ended;
      const asked = performance.now();
      await client.stop(id);
      await Promise.all(app.provider.requests.slice(requests).map(({ ended }) => ended));
      slowest = Math.max(slowest, performance.now() - asked);
      await turn.rest();
    }
    expect(slowest).toBeLessThan(1_000);
    const session = await client.session(id);
    expect(session.activeTurn).toBeNull();
    expect(session.turnCount).toBe(201);
    for (const turn of session.turns.nodes) expect(['STOPPED', 'COMPLETED']).toContain(turn.status);
    for (const message of session.history) expect(message.content).not.toBe('');
    expect(app.provider.violations).toEqual([]);
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  }, 120_000);

  it('before the first chunk stores no assistant message, and the next request is valid', async () => {
    const id = await client.createSession();
    app.provider.enqueue([script.silence()]);
    const count = app.provider.requests.length;
    const sending = client.send(id, 'never answered');
    const request = await app.provider.request(count);
    expect(await client.stop(id)).toMatchObject({ status: 'STOPPED', finishReason: 'STOPPED' });
    await request.hungUp;
    expect(await sending).toMatchObject({ content: '', finishReason: 'STOPPED', message: null });
    app.provider.onRequest(() => undefined);
    await client.send(id, 'next');
    expect(app.provider.requests.at(-1)?.body.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'user',
    ]);
    expect(app.provider.violations).toEqual([]);
    expect(await client.stop(id)).toBeNull();
  });
});
