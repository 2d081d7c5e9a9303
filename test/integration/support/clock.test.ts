import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { chatClient, openTurn } from '../../support/client.js';
import { createClock } from '../../support/clock.js';
import { gate, pause, reply, text } from '../../support/script.js';

const clock = createClock('2031-02-03T04:05:06.789Z');
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { now: clock.now });
});
afterAll(() => app.close());

test('a clock in the hands of a test rules the times of a whole app', { timeout: 30_000 }, async () => {
  const id = await chatClient(app.url).createSession();
  const middle = gate();
  app.provider.enqueue([text('first'), pause(middle), reply('then')]);
  const turn = openTurn(app.url, 'ws', id, 'hello');
  const begun = [await turn.next(), await turn.until(({ delta }) => delta === 'first')];
  expect(begun.map(({ at }) => at)).toEqual(['2031-02-03T04:05:06.789Z', '2031-02-03T04:05:06.789Z']);
  clock.advance(3_600_000);
  middle.open();
  expect((await turn.next()).at).toBe('2031-02-03T05:05:06.789Z');
  clock.set('2030-01-01T00:00:00Z');
  await turn.rest();
  expect((await openTurn(app.url, 'sse', id, 'again').next()).at).toBe('2030-01-01T00:00:00.000Z');
});
