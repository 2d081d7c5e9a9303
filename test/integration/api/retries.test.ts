import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient } from '../../support/client.js';
import * as script from '../../support/script.js';

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  // Without chance in it the first wait takes 250 ms, the second 500 ms.
  app = await startTestApp({ MODEL_MAX_RETRIES: '2' }, { random: () => 0 });
  client = chatClient(app.url);
});
afterAll(() => app.close());

const answer = script.reply('at last', { usage: { prompt: 100, completion: 10 } });

describe('a provider that fails in a passing way', () => {
  it('is asked again, and every attempt is in the ledger', async () => {
    const id = await client.createSession();
    app.provider.enqueue([script.httpError(503)], [script.httpError(429, undefined, { 'retry-after': '0' })], answer);
    const reply = await client.send(id, 'please');
    expect(reply).toMatchObject({ content: 'at last', costUsd: 0.00035, tokensUsed: 110 });
    const { modelCalls, traceEvents, totalCostUsd } = await client.session(id);
    expect(
      modelCalls.nodes.map((call: { error: { code: string } | null; costUsd: number; step: number }) => [
        call.step,
        call.error?.code,
        call.costUsd,
      ]),
    ).toEqual([
      [1, 'PROVIDER_UNAVAILABLE', 0],
      [1, 'PROVIDER_RATE_LIMITED', 0],
      [1, undefined, 0.00035],
    ]);
    expect(totalCostUsd).toBe(0.00035);
    expect(traceEvents.nodes.map((event: { type: string }) => event.type)).toEqual([
      'TURN_STARTED',
      'MODEL_CALL',
      'MODEL_CALL',
      'MODEL_CALL',
      'ASSESSMENT',
      'TURN_FINISHED',
    ]);
  });

  it('is asked three times at most', async () => {
    const id = await client.createSession();
    const before = app.provider.requests.length;
    app.provider.enqueue([script.httpError(500)], [script.httpError(500)], [script.httpError(500)]);
    const failed = await client.trySend(id, 'please');
    expect(failed.errors?.[0]?.extensions).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryable: true });
    expect(app.provider.requests.length - before).toBe(3);
  });

  it.each([
    ['that cannot help', [script.httpError(401)]],
    ['that the provider puts off for too long', [script.httpError(429, undefined, { 'retry-after': '90' })]],
    ['after some text was received', [script.text('begun'), script.cutFin]],
  ])('is not asked again %s', async (_why, fault) => {
    const id = await client.createSession();
    const before = app.provider.requests.length;
    app.provider.enqueue(fault);
    expect((await client.trySend(id, 'please')).errors).toHaveLength(1);
    expect(app.provider.requests.length - before).toBe(1);
  });

  it('can be stopped while it waits between two attempts', async () => {
    const id = await client.createSession();
    const before = app.provider.requests.length;
    app.provider.enqueue([script.httpError(503, undefined, { 'retry-after': '9' })]);
    app.forgetLog();
    const sending = client.send(id, 'please');
    await app.waitForLog('model call failed');
    expect(await client.stop(id)).toMatchObject({ status: 'STOPPED' });
    expect(await sending).toMatchObject({ finishReason: 'STOPPED', content: '' });
    expect(app.provider.requests.length - before).toBe(1);
    expect((await client.session(id)).modelCalls.totalCount).toBe(1);
  });
});
