import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import { sessionEvents, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';
import { gapsIn, isEnd } from '../support/told.js';

// Field report A03: on resume the earlier reply shows twice, or parts of the text repeat.
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

/** A page: what it shows is a text for each message id, read from the history and then changed by events. */
class Page {
  readonly shown = new Map<string, string>();
  #turnOf = new Map<string, string>();

  constructor(history: readonly { id: string; role: string; content: string; turn: { id: string } }[]) {
    for (const { id, role, content, turn } of history) {
      if (role !== 'ASSISTANT') continue;
      this.shown.set(id, content);
      this.#turnOf.set(id, turn.id);
    }
  }

  apply({ __typename, turnId, messageId, delta }: Event): void {
    if (__typename === 'TurnStarted') {
      for (const [id, turn] of this.#turnOf) if (turn === turnId) this.shown.set(id, '');
    }
    if (__typename !== 'TextDelta') return;
    this.#turnOf.set(messageId, turnId);
    this.shown.set(messageId, (this.shown.get(messageId) ?? '') + delta);
  }
}

const repliesOf = async (sessionId: string) => {
  const { history } = await client.session(sessionId);
  return new Map(
    history
      .filter(({ role }: { role: string }) => role === 'ASSISTANT')
      .map(({ id, content }: { id: string; content: string }) => [id, content]),
  );
};

/** Two finished turns and a third that has said the first part of its reply. */
async function thirdTurnInProgress(transport: Transport) {
  const sessionId = await client.createSession();
  await client.send(sessionId, 'one');
  await client.send(sessionId, 'two');
  const gate = script.gate();
  app.provider.enqueue([
    script.text('ha ha ha, ', { chunks: 4 }),
    script.pause(gate),
    script.text('ha ha ha.', { chunks: 4 }),
    script.finish('stop'),
    script.usage({ prompt: 3, completion: 8 }),
  ]);
  const live = openTurn(app.url, transport, sessionId, 'three');
  const seen: Event[] = [];
  await live.until((event) => {
    seen.push(event);
    return textOf(seen) === 'ha ha ha, ';
  });
  return { sessionId, gate, live, seen, turnId: seen[0].turnId as string };
}

describe.each<Transport>(['ws', 'sse'])(
  'a page that comes back in mid-reply over %s',
  { timeout: 30_000 },
  (transport) => {
    describe.each(['the same server', 'another server'])('to %s', (where) => {
      const url = () => (where === 'the same server' ? app.url : second.url);

      it.each(['its turn', 'its session'])('and follows %s shows each reply once, under its old id', async (what) => {
        const { sessionId, gate, live, turnId } = await thirdTurnInProgress(transport);
        // What runs on another server can be read on this one within a second.
        const history = await vi.waitUntil(
          async () => {
            const session = await chatClient(url()).session(sessionId);
            return session.history.length === 6 && session.history;
          },
          { timeout: 10_000 },
        );
        const page = new Page(history);
        const before = [...page.shown.keys()];
        const stream =
          what === 'its turn'
            ? openEvents(url(), transport, turnEvents, { turnId })
            : openEvents(url(), transport, sessionEvents, { sessionId });
        const events: Event[] = [];
        const readUntil = (test: (event: Event) => boolean) =>
          stream.until((event) => {
            events.push(event);
            page.apply(event);
            return test(event);
          });
        await readUntil(({ __typename }) => __typename === 'TextDelta');
        gate.open();
        await readUntil(isEnd);
        await live.rest();
        stream.leave();
        expect(page.shown).toEqual(await repliesOf(sessionId));
        expect([...page.shown.keys()]).toEqual(before);
        expect([...page.shown.values()]).toEqual(['echo: one', 'echo: two', 'ha ha ha, ha ha ha.']);
        expect(gapsIn(events)).toEqual([]);
      });

      it('with the cursor of any event it had goes on behind it, without a repetition', async () => {
        const { sessionId, gate, live, seen, turnId } = await thirdTurnInProgress(transport);
        const resumed = seen.map((event) => openEvents(url(), transport, turnEvents, { turnId, after: event.cursor }));
        gate.open();
        seen.push(...(await live.rest()));
        expect(textOf(seen)).toBe('ha ha ha, ha ha ha.');
        for (const [at, stream] of resumed.entries()) {
          const all = [...seen.slice(0, at + 1), ...(await stream.rest())];
          expect(textOf(all)).toBe('ha ha ha, ha ha ha.');
          expect(gapsIn(all)).toEqual([]);
          expect(all.filter(isEnd)).toHaveLength(1);
          expect(all.at(-1)).toEqual(seen.at(-1));
        }
        expect(new Set(seen.flatMap(({ messageId }) => messageId ?? []))).toEqual(
          new Set([[...(await repliesOf(sessionId)).keys()].at(-1)]),
        );
      });
    });
  },
);
