import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import * as documents from '../support/documents.js';
import * as script from '../support/script.js';

// Field report A01: a reply that was cut by a stop or by a closed tab is gone after a reload, and only the user's
// message stays.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const words = Array.from({ length: 20 }, (_, at) => `w${at} `);
const firstEight = words.slice(0, 8).join('');

/** The next reply says eight of its words, and the others once the gate is open. */
function sayEightOfTwenty(): script.Gate {
  const gate = script.gate();
  app.provider.enqueue([
    words.slice(0, 8).map((word) => script.text(word)),
    script.pause(gate),
    words.slice(8).map((word) => script.text(word)),
    script.finish('stop'),
    script.usage({ prompt: 3, completion: 20 }),
  ]);
  return gate;
}

/** Opens the stream on a bare connection, reads eight words, and drops the connection without a word. */
const readEightAndVanish: Record<Transport, (sessionId: string) => Promise<void>> = {
  async ws(sessionId) {
    const socket = await rawSocket(`${app.url}/graphql`);
    await socket.init();
    socket.subscribe('1', documents.stream, { input: { sessionId, message: 'twenty words' } });
    let seen = '';
    while (seen !== firstEight) seen += (await socket.receiveFor('1'))?.payload.data.stream.delta ?? '';
    socket.socket.terminate();
    await socket.closed;
  },
  async sse(sessionId) {
    const stream = await openStream(`${app.url}/graphql`, documents.stream, {
      input: { sessionId, message: 'twenty words' },
    });
    let seen = '';
    while (seen !== firstEight) seen += (await stream.nextResult()).data.stream.delta ?? '';
    stream.drop();
    await stream.ended;
  },
};

async function expectNextIsFine(sessionId: string, reply: string) {
  expect((await client.send(sessionId, 'go on')).content).toBe('echo: go on');
  const sent = app.provider.requests.at(-1)?.body.messages.slice(1) ?? [];
  expect(sent.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'twenty words'],
    ['assistant', reply],
    ['user', 'go on'],
  ]);
  expect(app.provider.violations).toEqual([]);
}

describe.each<Transport>(['ws', 'sse'])('a reply whose reader over %s', { timeout: 30_000 }, (transport) => {
  it('has closed the page is written on, and is there whole when the page comes back', async () => {
    const sessionId = await client.createSession();
    const gate = sayEightOfTwenty();
    await readEightAndVanish[transport](sessionId);
    const reloaded = await client.session(sessionId);
    expect(reloaded.history[1]).toMatchObject({ role: 'ASSISTANT', status: 'STREAMING', content: firstEight });
    const { id: turnId } = reloaded.activeTurn;
    gate.open();
    expect(textOf(await openEvents(app.url, transport, documents.turnEvents, { turnId }).rest())).toBe(words.join(''));
    const after = await client.session(sessionId);
    expect(after.history[1]).toMatchObject({ id: reloaded.history[1].id, status: 'COMPLETE', content: words.join('') });
    expect(after.turns.nodes[0]).toMatchObject({ status: 'COMPLETED', finishReason: 'STOP' });
    await expectNextIsFine(sessionId, words.join(''));
  });

  it('has called stop is kept as far as it was told, and says that it is a part', async () => {
    const sessionId = await client.createSession();
    sayEightOfTwenty();
    const turn = openTurn(app.url, transport, sessionId, 'twenty words');
    let seen = '';
    await turn.until((event) => {
      seen += event.delta ?? '';
      return seen === firstEight;
    });
    await client.stop(sessionId);
    const rest = await turn.rest();
    expect(rest.at(-1)).toMatchObject({ __typename: 'TurnStopped', response: { content: firstEight } });
    const { history, turns } = await client.session(sessionId);
    expect(history[1]).toMatchObject({ role: 'ASSISTANT', status: 'PARTIAL', content: firstEight });
    expect(turns.nodes[0]).toMatchObject({ status: 'STOPPED', finishReason: 'STOPPED' });
    await expectNextIsFine(sessionId, firstEight);
  });
});
