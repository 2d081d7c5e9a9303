import { setTimeout as sleep } from 'node:timers/promises';
import type { Client as SseClient } from 'graphql-sse';
import type { Client as WsClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sseClient, subscribeSse } from '../clients/sse.js';
import { subscribe, wsClient } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn, type Transport } from '../support/client.js';
import { sessionEvents, stream, turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';
import { gapsIn, isEnd, textByPlace } from '../support/told.js';

// Field report A23: a turn ends between the question whether it is active and the joining of it, and who joined then
// waits for ever, or is told nothing.
let app: TestApp;
let second: SecondApp;
let client: ChatClient;
let clients: { readonly ws: readonly WsClient[]; readonly sse: readonly SseClient[] };
beforeAll(async () => {
  app = await startTestApp();
  second = await startSecondApp(app);
  client = chatClient(app.url);
  const endpoints = [app.url, second.url].map((url) => `${url}/graphql`);
  clients = { ws: endpoints.map((url) => wsClient(url)), sse: endpoints.map((url) => sseClient(url)) };
});
afterAll(async () => {
  for (const each of [...clients.ws, ...clients.sse]) await each.dispose();
  await second.close();
  await app.close();
});

const turnMs = 50;
/** Time between two joins of a turn, which go on until it is over. */
const pauseMs = 5;
const mostBeforeEnd = 9;
const afterEnd = 3;
const total = 500;

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

interface Target {
  readonly sessionId: string;
  readonly turnId: string;
  readonly message: string;
  readonly started: Event;
}

/** The ways to join a turn, each with whether TurnStarted is due. */
const ways: readonly ((target: Target) => readonly [string, Record<string, unknown>, boolean])[] = [
  ({ turnId }) => [turnEvents, { turnId }, true],
  ({ turnId, started }) => [turnEvents, { turnId, after: started.cursor }, false],
  ({ sessionId, started }) => [sessionEvents, { sessionId, after: started.cursor }, false],
  ({ sessionId, message }) => [stream, { input: { sessionId, message, clientMessageId: message } }, true],
];

/** Joins, and reads until the end of the turn or of the stream. */
async function join(transport: Transport, replica: number, way: number, target: Target) {
  const [document, variables, withStart] = (ways[way] as (typeof ways)[number])(target);
  const joined =
    transport === 'ws'
      ? subscribe(clients.ws[replica] as WsClient, document, variables)
      : subscribeSse(clients.sse[replica] as SseClient, document, variables);
  const events: Event[] = withStart ? [] : [target.started];
  for (let result = await joined.next(); result !== null; result = await joined.next()) {
    if (result.errors) throw new Error(JSON.stringify(result.errors));
    const event = Object.values(result.data)[0];
    events.push(event);
    if (isEnd(event)) break;
  }
  joined.leave();
  return events;
}

/** Joins a turn of 50 ms in a loop that goes beyond its end; gives how often. */
async function joinUntilAfterEnd(sessionId: string, turn: number): Promise<number> {
  const said = `reply ${turn} to the end`;
  const half = script.gate();
  app.provider.enqueue([
    script.text(said.slice(0, 6)),
    script.pause(half),
    script.text(said.slice(6), { chunks: 3 }),
    script.finish('stop'),
    script.usage({ prompt: 3, completion: 5 }),
  ]);
  const message = `message ${turn}`;
  const asked = openTurn(app.url, 'ws', sessionId, message, { clientMessageId: message });
  const started = await asked.next();
  const target = { sessionId, turnId: started.turnId, message, started };
  const joined: Promise<Event[]>[] = [];
  const joinOnce = () => {
    const at = turn + joined.length;
    joined.push(join(at % 2 ? 'ws' : 'sse', at % 3 ? 0 : 1, at % ways.length, target));
  };
  let isOver = false;
  const own = asked.rest().finally(() => {
    isOver = true;
  });
  void sleep(turnMs).then(half.open);
  // The first of them comes a little later in each turn, so that the others meet the end at other moments.
  await sleep(turnMs - pauseMs * (1 + (turn % 5) / 5));
  for (let before = 0; !isOver && before < mostBeforeEnd; before += 1) {
    joinOnce();
    await sleep(pauseMs);
  }
  const whole = [started, ...(await own)];
  for (let after = 0; after < afterEnd; after += 1) joinOnce();
  for (const events of await Promise.all(joined)) {
    expect(events[0]).toMatchObject({ __typename: 'TurnStarted', cursor: started.cursor, at: started.at });
    expect(textByPlace(events)).toBe(said);
    expect(gapsIn(events)).toEqual([]);
    expect(events.at(-1)).toEqual(whole.at(-1));
  }
  return joined.length;
}

describe('joining a turn at the moment of its end', () => {
  it('500 times, in every way, gives all of it, and its end', async () => {
    const sessionId = await client.createSession({ budget: { maxTokens: null, maxCostUsd: null } });
    const requests = app.provider.requests.length;
    let turns = 0;
    for (let joins = 0; joins < total; turns += 1) joins += await joinUntilAfterEnd(sessionId, turns);
    expect(app.provider.requests).toHaveLength(requests + turns);
    expect((await client.session(sessionId)).turnCount).toBe(turns);
  }, 180_000);
});
