import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import { sessionEvents, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';
import { gapsIn, isEnd } from '../support/told.js';

// Field report A08: the sequence restarts at zero for the second reply of a conversation, and a listener that drops what
// lies below its mark drops everything from then on, and hangs.
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

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

/** A listener that drops whatever does not lie above the highest number it has seen. */
function listen(url: string, transport: Transport, sessionId: string, after?: string) {
  const stream = openEvents(url, transport, sessionEvents, { sessionId, after });
  const heard: Event[] = [];
  const dropped: Event[] = [];
  return {
    heard,
    dropped,
    /** Reads to the next event that it does not drop and for which the test holds. */
    until: (test: (event: Event) => boolean) =>
      stream.until((event) => {
        const isNew = event.sequence > (heard.at(-1)?.sequence ?? 0);
        (isNew ? heard : dropped).push(event);
        return isNew && test(event);
      }),
    leave: () => stream.leave(),
  };
}

describe.each<Transport>(['ws', 'sse'])('a listener over %s with one mark for the whole conversation', (transport) => {
  it.each(['the same server', 'another server'])(
    'on %s hears three turns whole, and so does one that joins late',
    async (where) => {
      const url = where === 'the same server' ? app.url : second.url;
      const sessionId = await client.createSession();
      const asked: Event[][] = [await openTurn(app.url, 'ws', sessionId, 'zero').rest()];
      const first = listen(url, transport, sessionId, asked[0]?.at(-1).cursor);
      const take = async (message: string, ...listeners: ReturnType<typeof listen>[]) => {
        const turn = openTurn(app.url, 'ws', sessionId, message);
        await Promise.all(listeners.map((listener) => listener.until(isEnd)));
        asked.push(await turn.rest());
      };
      await take('one', first);

      // The second listener joins in the middle of the second turn.
      const gate = script.gate();
      app.provider.enqueue([script.text('echo: '), script.pause(gate), script.reply('two')]);
      const joining = gate.reached.then(async () => {
        const late = listen(url, transport, sessionId);
        await late.until(({ __typename }) => __typename === 'TextDelta');
        gate.open();
        await late.until(isEnd);
        return late;
      });
      await take('two', first);
      const late = await joining;

      await take('three', first, late);
      // The third joins between two turns, with the last mark of somebody else.
      const last = listen(url, transport, sessionId, first.heard.at(-1).cursor);
      await take('four', first, late, last);

      const all = asked.flat();
      const firstOf = (turn: number) => all.findIndex(({ turnId }) => turnId === asked[turn]?.[0].turnId);
      for (const [listener, from] of [
        [first, firstOf(1)],
        [late, firstOf(2)],
        [last, firstOf(4)],
      ] as const) {
        expect(listener.dropped).toEqual([]);
        expect(gapsIn(listener.heard)).toEqual([]);
        expect(textOf(listener.heard)).toBe(textOf(all.slice(from)));
        expect(listener.heard[0].cursor).toBe(all[from].cursor);
        expect(listener.heard.at(-1)).toEqual(all.at(-1));
        listener.leave();
      }
      expect(textOf(all)).toBe('echo: zeroecho: oneecho: twoecho: threeecho: four');
    },
    30_000,
  );
});

describe('a mark of the second turn', () => {
  it('lies above all of the first, and a client that asks for what is above it hears the rest', async () => {
    const sessionId = await client.createSession();
    const one = await openTurn(app.url, 'ws', sessionId, 'one').rest();
    const two = await openTurn(app.url, 'sse', sessionId, 'two').rest();
    expect(two[0].sequence).toBeGreaterThan(one.at(-1).sequence);
    for (const [at, event] of two.entries()) {
      const { turnId, cursor: after } = event;
      const rest = await openEvents(app.url, 'sse', turnEvents, { turnId, after }).rest();
      expect(rest).toEqual(two.slice(at + 1));
    }
  });
});
