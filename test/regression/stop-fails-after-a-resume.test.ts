import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';
import { isEnd } from '../support/told.js';

// Field report A02: once a stream was resumed, stop has no effect, and the work goes on.
let app: TestApp;
let second: SecondApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  second = await startSecondApp(app);
  client = chatClient(app.url);
});
afterAll(async () => {
  await second.close();
  await app.close();
});

describe.each<Transport>(['ws', 'sse'])(
  'stop, after the stream was left and resumed over %s',
  { timeout: 30_000 },
  (transport) => {
    it.each(['the same server', 'another server'])('on %s, reaches the provider within a second', async (where) => {
      const url = where === 'the same server' ? app.url : second.url;
      const sessionId = await client.createSession();
      const index = app.provider.requests.length;
      app.provider.enqueue([script.text('some words', { chunks: 3 }), script.silence()]);
      const first = openTurn(app.url, transport, sessionId, 'go');
      const delta = await first.until(({ __typename }) => __typename === 'TextDelta');
      const { turnId } = delta;
      // This one was there before and stays.
      const old = openEvents(app.url, transport, turnEvents, { turnId });
      await old.until(({ __typename }) => __typename === 'TextDelta');
      const oldRest = old.rest();
      first.leave();
      const resumed = openEvents(url, transport, turnEvents, { turnId, after: delta.cursor });
      const fresh = openEvents(url, transport, turnEvents, { turnId });
      await fresh.until(({ __typename }) => __typename === 'TextDelta');
      const rests = [oldRest, resumed.rest(), fresh.rest()];

      const { hungUp, isHungUp } = await app.provider.request(index);
      expect(isHungUp()).toBe(false);
      const begun = performance.now();
      const stopping = chatClient(url).stop(sessionId);
      await hungUp;
      expect(performance.now() - begun).toBeLessThan(1_000);
      expect(await stopping).toMatchObject({ id: turnId, status: 'STOPPED' });

      for (const events of await Promise.all(rests)) {
        expect(events.filter(isEnd)).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({ __typename: 'TurnStopped', turnId });
      }
      expect((await client.session(sessionId)).history[1]).toMatchObject({ status: 'PARTIAL', content: 'some words' });
      expect((await client.send(sessionId, 'next')).content).toBe('echo: next');
      expect(app.provider.requests).toHaveLength(index + 2);
      expect(app.provider.violations).toEqual([]);
    });
  },
);
