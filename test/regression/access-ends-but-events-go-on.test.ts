import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, type Result } from '../clients/results.js';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient, type Transport, textOf } from '../support/client.js';
import { sessionEvents, stream, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';
import { audience, issuer, secret, sign } from '../support/tokens.js';
import { gapsIn, isEnd } from '../support/told.js';

// Field report A68: access is taken away, and events go on. The reply that is followed here has an event every 20 ms
// and takes longer than any test, so whoever is still told of it is told a lot.
const withinMs = 2_000;
let app: TestApp;
let second: SecondApp;
beforeAll(async () => {
  const env = { AUTH_JWT_SECRET: secret, AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience };
  app = await startTestApp(env);
  second = await startSecondApp(app, env);
  app.provider.onRequest(() => [
    script.paced(20, script.text('word '.repeat(3_000), { chunks: 3_000 })),
    script.silence(),
  ]);
});
afterAll(async () => {
  await second.close();
  await app.close();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;
const tokenFor = async (claims: Record<string, unknown> = {}) => ({ authorization: `Bearer ${await sign(claims)}` });
const isDelta = ({ __typename }: Event) => __typename === 'TextDelta';

/** What a subscription said, and how and when it was over. */
interface Reading {
  /** The next event; null after the end. */
  next(): Promise<Event>;
  /** Results until the end, the code of the close or `complete` or `cut`, and the time of the end. */
  rest(): Promise<{ readonly results: Result[]; readonly end: number | string; readonly at: number }>;
}

async function read(
  url: string,
  transport: Transport,
  token: Record<string, string>,
  document: string,
  variables: Record<string, unknown>,
): Promise<Reading> {
  const eventOf = (result: Result | undefined) => Object.values(result?.data ?? {})[0];
  if (transport === 'sse') {
    const reading = await openStream(`${url}/graphql`, document, variables, token);
    return {
      next: async () => eventOf(await reading.nextResult()),
      async rest() {
        const frames = await reading.rest();
        const at = Date.now();
        const results = frames.filter(({ event }) => event === 'next').map(({ data }) => JSON.parse(data) as Result);
        return { results, end: frames.at(-1)?.event === 'complete' ? 'complete' : 'cut', at };
      },
    };
  }
  const socket = await rawSocket(`${url}/graphql`);
  await socket.init(token);
  socket.subscribe('1', document, variables);
  return {
    next: async () => eventOf((await socket.receiveFor('1'))?.payload),
    async rest() {
      const results: Result[] = [];
      for (let frame = await socket.receiveFor('1'); frame; frame = await socket.receiveFor('1')) {
        if (frame.type === 'complete') {
          const at = Date.now();
          await socket.close();
          return { results, end: 'complete', at };
        }
        results.push(frame.payload);
      }
      return { results, end: (await socket.closed).code, at: Date.now() };
    },
  };
}

async function startLongTurn(token: Record<string, string>) {
  const sessionId = await chatClient(app.url, { headers: token }).createSession();
  const requests = app.provider.requests.length;
  const asked = await read(app.url, 'ws', token, stream, {
    input: { sessionId, message: 'go', clientMessageId: 'mine' },
  });
  const { turnId } = await asked.next();
  return { sessionId, turnId, request: await app.provider.request(requests), asked };
}

/** Reads until the text has begun. */
async function begin(reading: Reading): Promise<Event[]> {
  const seen = [await reading.next()];
  while (!isDelta(seen.at(-1))) seen.push(await reading.next());
  return seen;
}

const eventsOf = (results: readonly Result[]): Event[] => results.flatMap(({ data }) => Object.values(data ?? {}));

const waysTo = (turnId: string, sessionId: string) =>
  ([app.url, second.url] as const).flatMap((url) =>
    (['ws', 'sse'] as const).flatMap((transport) => [
      { url, transport, document: turnEvents, variables: { turnId } },
      { url, transport, document: sessionEvents, variables: { sessionId } },
    ]),
  );

describe('a token that ends in the middle of a reply', { timeout: 60_000 }, () => {
  it('ends every subscription of its caller, and the reply goes on for whoever has a valid one', async () => {
    const valid = await tokenFor();
    const { sessionId, turnId, asked } = await startLongTurn(valid);
    const ways = waysTo(turnId, sessionId);
    const exp = Math.ceil(Date.now() / 1_000) + 4;
    const ending = await tokenFor({ exp });
    const readings = await Promise.all(
      ways.map(({ url, transport, document, variables }) => read(url, transport, ending, document, variables)),
    );
    const begun = await Promise.all(readings.map(begin));
    const rests = await Promise.all(readings.map((reading) => reading.rest()));
    for (const [at, { results, end, at: endedAt }] of rests.entries()) {
      const transport = ways[at]?.transport;
      expect([transport, end]).toEqual([transport, transport === 'ws' ? 4403 : 'cut']);
      expect(endedAt).toBeGreaterThanOrEqual(exp * 1_000);
      expect(endedAt).toBeLessThan(exp * 1_000 + withinMs);
      const seen = [...(begun[at] as Event[]), ...eventsOf(results)];
      expect(codesOf(results.at(-1) ?? {})).toEqual([]);
      expect(seen.filter(isEnd)).toEqual([]);
      for (const { at: toldAt } of seen) expect(Date.parse(toldAt)).toBeLessThan(exp * 1_000 + withinMs);
      begun[at] = seen;
    }

    // Whoever comes back with the old token is told nothing; with a new one, what was missed.
    const resumed = [];
    for (const [at, { url, transport, document, variables }] of ways.entries()) {
      const { cursor: after } = begun[at]?.at(-1) ?? {};
      if (transport === 'ws') {
        const socket = await rawSocket(`${url}/graphql`);
        expect(await socket.init(ending)).toBeNull();
        expect((await socket.closed).code).toBe(4401);
      } else {
        expect((await openStream(`${url}/graphql`, document, { ...variables, after }, ending)).status).toBe(401);
      }
      resumed.push(await read(url, transport, valid, turnEvents, { turnId, after }));
    }
    const news = await Promise.all(resumed.map((reading) => reading.next()));
    expect(news.filter(isDelta)).toHaveLength(ways.length);
    const client = chatClient(app.url, { headers: valid });
    await client.stop(sessionId);
    const { content } = (await client.session(sessionId)).history[1];
    for (const [at, reading] of resumed.entries()) {
      const { results, end } = await reading.rest();
      expect(end).toBe('complete');
      const all = [...(begun[at] as Event[]), news[at], ...eventsOf(results)];
      expect(textOf(all)).toBe(content);
      expect(gapsIn(all)).toEqual([]);
    }
    expect(eventsOf((await asked.rest()).results).at(-1)).toMatchObject({ __typename: 'TurnStopped' });
  });
});

describe('a session that is deleted in the middle of a reply', { timeout: 60_000 }, () => {
  it.each(['the server that runs it', 'another server'])('on %s ends every subscription to it', async (where) => {
    const token = await tokenFor();
    const { sessionId, turnId, request, asked } = await startLongTurn(token);
    const ways = waysTo(turnId, sessionId);
    const readings = await Promise.all(
      ways.map(({ url, transport, document, variables }) => read(url, transport, token, document, variables)),
    );
    await Promise.all(readings.map(begin));
    const rests = Promise.all([asked, ...readings].map((reading) => reading.rest()));
    const url = where === 'another server' ? second.url : app.url;
    const client = chatClient(url, { headers: token });
    const { data } = await client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id: sessionId });
    const deletedAt = Date.now();
    expect(data).toEqual({ deleteChatSession: sessionId });
    await request.hungUp;
    for (const { results, end, at } of await rests) {
      expect(end).toBe('complete');
      expect(at - deletedAt).toBeLessThan(withinMs);
      const told = eventsOf(results);
      const beforeTheEnd = ['ContextReported', 'TextDelta', 'TurnStopped'];
      expect(told.filter((event) => event !== null && !beforeTheEnd.includes(event.__typename))).toEqual([]);
      expect([[], ['NOT_FOUND']]).toContainEqual(results.flatMap(codesOf));
      for (const event of told) {
        if (event !== null) expect(Date.parse(event.at)).toBeLessThanOrEqual(deletedAt);
      }
    }
    for (const { url: at, transport, document, variables } of ways) {
      const { results } = await (await read(at, transport, token, document, variables)).rest();
      expect(results.flatMap(codesOf)).toEqual(['NOT_FOUND']);
    }
  });
});
