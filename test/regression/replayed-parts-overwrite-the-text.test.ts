import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import { sessionEvents, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { gapsIn, isEnd, textByPlace } from '../support/told.js';

// Field report A04: parts that come twice or in another order overwrite the start of a long reply. Clients can only
// keep them apart by their numbers, so these have to be unique in a session, without a gap, and the same for everybody.
let app: TestApp;
let client: ChatClient;
let url: string;
beforeAll(async () => {
  app = await startTestApp({ MODEL_MAX_RETRIES: '0' });
  url = app.url;
  client = chatClient(url);
});
afterAll(() => app.close());

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

/** The same list in other orders, the same ones in every run. */
function* shuffled(events: readonly Event[]): Generator<Event[]> {
  let seed = 7;
  for (let round = 0; round < 20; round += 1) {
    const list = [...events];
    for (let at = list.length - 1; at > 0; at -= 1) {
      seed = (seed * 48_271) % 2_147_483_647;
      const other = seed % (at + 1);
      [list[at], list[other]] = [list[other], list[at]];
    }
    yield list;
  }
}

const usage = script.usage({ prompt: 3, completion: 9 });
const longReply = Array.from({ length: 120 }, (_, at) => `Wort ${at} 🚲 größer. `).join('');

/** A turn that is told in many pieces, since each of them waits until the one before was read. */
async function readPieceByPiece(transport: Transport, sessionId: string): Promise<Event[]> {
  const pieces = longReply.match(/.{1,200}/gsu) ?? [];
  const gates = pieces.map(() => script.gate());
  app.provider.enqueue([
    pieces.map((piece, at) => [script.text(piece, { chunks: 5 }), script.pause(gates[at] as script.Gate)]),
    script.finish('stop'),
    usage,
  ]);
  const live = openTurn(url, transport, sessionId, 'a long one');
  const seen: Event[] = [];
  for (const [at, gate] of gates.entries()) {
    const due = pieces.slice(0, at + 1).join('');
    await live.until((event) => {
      seen.push(event);
      return textOf(seen) === due;
    });
    gate.open();
  }
  return [...seen, ...(await live.rest())];
}

describe.each<Transport>(['ws', 'sse'])('the events of a turn, read over %s,', (transport) => {
  it('give the same text twice, shuffled, and mixed with those of other readers', async () => {
    const sessionId = await client.createSession();
    const events = await readPieceByPiece(transport, sessionId);
    const { turnId } = events[0];
    expect(events.length).toBeGreaterThan(10);
    expect(gapsIn(events)).toEqual([]);
    expect((await client.session(sessionId)).history[1].content).toBe(longReply);

    const byNumber = (list: readonly Event[]) =>
      textOf(
        [...new Map(list.map((event) => [event.sequence, event])).values()].sort((a, b) => a.sequence - b.sequence),
      );
    for (const list of shuffled([...events, ...events])) expect(byNumber(list)).toBe(longReply);

    // Those who come later get larger pieces, cut elsewhere, of the same text in the same places.
    const again = await openEvents(url, transport, turnEvents, { turnId }).rest();
    const after = events[4].cursor;
    const resumed = await openEvents(url, transport, turnEvents, { turnId, after }).rest();
    expect(again.length).toBeLessThan(events.length);
    expect(gapsIn([...events.slice(0, 5), ...resumed])).toEqual([]);
    for (const list of shuffled([...events, ...again, ...resumed])) expect(textByPlace(list)).toBe(longReply);
  }, 30_000);
});

describe('the numbers of a session', () => {
  it('go on without a gap through turns of every ending, and are the same after a restart', async () => {
    const sessionId = await client.createSession();
    const told: Event[] = [];
    const take = async (steps: script.Script, then: () => Promise<unknown> = async () => {}) => {
      app.provider.enqueue(steps);
      const turn = openTurn(url, 'ws', sessionId, 'go');
      const seen: Event[] = [];
      if (steps.length > 0) {
        await turn.until((event) => {
          seen.push(event);
          return 'delta' in event || isEnd(event);
        });
      }
      await then();
      told.push(...seen, ...(await turn.rest()));
    };
    await take(script.reply('whole'));
    await take([script.thinking('hm'), script.text('half'), script.cutFin]);
    await take([script.httpError(401)]);
    await take([script.text('never mi'), script.silence()], () => client.stop(sessionId));
    await take([script.text(' \n '), script.finish('stop'), usage]);
    await take([script.thinking('only a thought'), script.finish('stop'), usage]);
    url = (await app.restart()).url;
    client = chatClient(url);
    await take(script.reply('after the restart'));

    expect(told.filter(isEnd).map(({ __typename }) => __typename)).toHaveLength(7);
    expect(gapsIn(told)).toEqual([]);
    const { turns } = await client.session(sessionId);
    const replayed: Event[] = [];
    for (const { id: turnId } of turns.nodes) {
      replayed.push(...(await openEvents(url, 'sse', turnEvents, { turnId }).rest()));
    }
    expect(gapsIn(replayed)).toEqual([]);
    expect(replayed.at(-1).sequence).toBe(told.at(-1).sequence);
    expect(textByPlace([...told, ...replayed])).toBe(textByPlace(told));

    // One that follows the whole session gets the same.
    const follower = openEvents(url, 'ws', sessionEvents, { sessionId, after: told[0].cursor });
    const followed: Event[] = [];
    await follower.until((event) => {
      followed.push(event);
      return event.sequence === told.at(-1).sequence;
    });
    follower.leave();
    expect(gapsIn([told[0], ...followed])).toEqual([]);
    expect(followed.filter(isEnd).map(({ cursor }) => cursor)).toEqual(told.filter(isEnd).map(({ cursor }) => cursor));
  }, 30_000);
});
