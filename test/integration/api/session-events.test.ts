import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../../support/client.js';
import { eventsCursor, sessionEvents } from '../../support/documents.js';
import * as script from '../../support/script.js';
import { type SecondApp, startSecondApp } from '../../support/second-app.js';

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

const follow = (url: string, transport: Transport, sessionId: string, after?: string) =>
  openEvents(url, transport, sessionEvents, { sessionId, after });

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;
const stand = async (id: string): Promise<string> =>
  (await client.run(eventsCursor, { id })).data.chatSession.eventsCursor;
const ends = ({ __typename }: Event) => __typename === 'TurnCompleted';

async function readTurn(stream: ReturnType<typeof follow>): Promise<Event[]> {
  const events: Event[] = [];
  for (let event = await stream.next(); event !== null; event = await stream.next()) {
    events.push(event);
    if (ends(event)) return events;
  }
  throw new Error('the stream ended before the turn did');
}

describe.each(['ws', 'sse'] as const)('sessionEvents over %s', (transport) => {
  describe.each(['the same server', 'another server'])('from %s', (where) => {
    const url = () => (where === 'the same server' ? app.url : second.url);

    it('follows one turn after the other, with numbers that go on rising', async () => {
      const sessionId = await client.createSession();
      const before = await openTurn(app.url, 'ws', sessionId, 'zero').rest();
      const stream = follow(url(), transport, sessionId, before.at(-1).cursor);
      const all: Event[] = [...before];
      for (const message of ['one', 'two', 'three']) {
        const reading = readTurn(stream);
        const { turn } = await client.send(sessionId, message);
        const events = await reading;
        expect(events[0]).toMatchObject({ __typename: 'TurnStarted', turnId: turn.id });
        expect(textOf(events)).toBe(`echo: ${message}`);
        all.push(...events);
      }
      const sequences = all.map(({ sequence }) => sequence);
      expect(new Set(sequences).size).toBe(sequences.length);
      expect([...sequences].sort((a, b) => a - b)).toEqual(sequences);
      stream.leave();
    });

    it('begins with the active turn, from its start', async () => {
      const sessionId = await client.createSession();
      await client.send(sessionId, 'long ago');
      const gate = script.gate();
      app.provider.enqueue([script.text('half '), script.pause(gate), script.reply('whole')]);
      const turn = openTurn(app.url, 'ws', sessionId, 'now');
      await turn.until(({ __typename }) => __typename === 'TextDelta');
      const stream = follow(url(), transport, sessionId);
      expect((await stream.next()).__typename).toBe('TurnStarted');
      gate.open();
      expect(textOf(await readTurn(stream))).toBe('half whole');
      await turn.rest();
      stream.leave();
    });

    it('tells from eventsCursor what no connection was there for, and an active turn from its start', async () => {
      const sessionId = await client.createSession();
      const atFirst = await stand(sessionId);
      await client.send(sessionId, 'one');
      const afterOne = await stand(sessionId);
      const gate = script.gate();
      app.provider.enqueue([script.text('half '), script.pause(gate), script.reply('whole')]);
      const turn = openTurn(app.url, 'ws', sessionId, 'two');
      await turn.until(({ __typename }) => __typename === 'TextDelta');
      const inTwo = await stand(sessionId);
      gate.open();
      await turn.rest();
      for (const [after, texts] of [
        [atFirst, ['echo: one', 'half whole']],
        [afterOne, ['half whole']],
        [inTwo, ['half whole']],
      ] as const) {
        const stream = follow(url(), transport, sessionId, after);
        for (const text of texts) expect(textOf(await readTurn(stream))).toBe(text);
        stream.leave();
      }
    });

    it('goes on behind the cursor of any of its turns, through all turns since', async () => {
      const sessionId = await client.createSession();
      const first = await openTurn(app.url, 'ws', sessionId, 'one').rest();
      await client.send(sessionId, 'two');
      const cut = first[1];
      const stream = follow(url(), transport, sessionId, cut.cursor);
      const rest = await readTurn(stream);
      expect(rest.map(({ cursor }) => cursor)).toEqual(first.slice(2).map(({ cursor }) => cursor));
      expect(textOf(await readTurn(stream))).toBe('echo: two');
      const reading = readTurn(stream);
      await client.send(sessionId, 'three');
      expect(textOf(await reading)).toBe('echo: three');
      stream.leave();
    });

    it('ends when its session is deleted', async () => {
      const sessionId = await client.createSession();
      const before = await openTurn(app.url, 'ws', sessionId, 'zero').rest();
      const stream = follow(url(), transport, sessionId, before[0].cursor);
      await readTurn(stream);
      const rest = stream.rest();
      await client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id: sessionId });
      expect(await rest).toEqual([]);
    });
  });
});

describe('a cursor for sessionEvents', () => {
  it.each([
    ['that is none', async () => 'nonsense'],
    [
      'of another session',
      async () => (await openTurn(app.url, 'ws', await client.createSession(), 'hi').rest())[0].cursor as string,
    ],
    ['at which another session stands', async () => stand(await client.createSession())],
  ])('%s is refused', async (_what, cursor) => {
    const sessionId = await client.createSession();
    await client.send(sessionId, 'hi');
    const refused = openEvents(app.url, 'ws', sessionEvents, { sessionId, after: await cursor() });
    await expect(refused.next()).rejects.toThrow('BAD_USER_INPUT');
    refused.leave();
  });
});
