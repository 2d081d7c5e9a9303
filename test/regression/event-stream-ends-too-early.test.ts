import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from '../clients/sse.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn, textOf } from '../support/client.js';
import * as documents from '../support/documents.js';
import * as script from '../support/script.js';

// Field report A70: an SSE subscription ends after its first event. The same kind: a stream that is cut because it
// lasts longer than a request may take, or because nothing was said for a while. All intervals are shortened here: a
// request may take 300 ms, and comments come every 40 ms.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({}, { timing: { keepAlive: 40, request: 300, requestHeaders: 200 } });
  client = chatClient(app.url);
});
afterAll(() => app.close());

const words = ['one ', 'two ', 'three'];

/** A session whose next turn says its words one by one, each when its gate opens. */
async function slowTurn() {
  const gates = words.map(() => script.gate());
  app.provider.enqueue([
    words.map((word, at) => [script.pause(gates[at] as script.Gate), script.text(word)]),
    script.finish('stop'),
    script.usage({ prompt: 3, completion: 3 }),
  ]);
  return { sessionId: await client.createSession(), gates };
}

describe('an event stream', () => {
  it('brings three events with long pauses between them over one connection', async () => {
    const { sessionId, gates } = await slowTurn();
    const stream = await openStream(`${app.url}/graphql`, documents.stream, { input: { sessionId, message: 'count' } });
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
    const next = async () => (await stream.nextResult()).data.stream;
    expect((await next()).__typename).toBe('TurnStarted');
    expect((await next()).__typename).toBe('ContextReported');
    for (const [at, gate] of gates.entries()) {
      // Ten comments are longer than a whole request may take.
      for (let comment = 0; comment < 10; comment += 1) await stream.nextComment();
      gate.open();
      expect(await next()).toMatchObject({ __typename: 'TextDelta', delta: words[at] });
    }
    const rest = await stream.rest();
    expect(rest.map(({ event, data }) => (event === 'next' ? JSON.parse(data).data.stream.__typename : event))).toEqual(
      ['StepCompleted', 'TurnCompleted', 'complete'],
    );
    await stream.ended;
  });

  it('brings them to the stock client, too, without a second connection', async () => {
    const { sessionId, gates } = await slowTurn();
    const turn = openTurn(app.url, 'sse', sessionId, 'count');
    const first = await turn.next();
    await turn.next();
    let text = '';
    for (const [at, gate] of gates.entries()) {
      gate.open();
      text += (await turn.next()).delta;
      expect(text).toBe(words.slice(0, at + 1).join(''));
    }
    const rest = await turn.rest();
    expect(rest.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: words.join('') } });
    // A second connection would have begun with the first event again.
    expect(rest.filter(({ __typename }) => __typename === first.__typename)).toEqual([]);
    expect((await client.session(sessionId)).turnCount).toBe(1);
  });

  it('of a turn that has ended brings all of it at once, and then ends', async () => {
    const sessionId = await client.createSession();
    const { turn } = await client.send(sessionId, 'hello');
    const stream = await openStream(`${app.url}/graphql`, documents.turnEvents, { turnId: turn.id });
    const events = await stream.rest();
    const kinds = events.map(({ event, data }) =>
      event === 'next' ? JSON.parse(data).data.turnEvents.__typename : event,
    );
    expect(kinds).toEqual([
      'TurnStarted',
      'ContextReported',
      'TextDelta',
      'StepCompleted',
      'TurnCompleted',
      'complete',
    ]);
    await stream.ended;
  });

  it('of a thousand quick events loses none', async () => {
    const sessionId = await client.createSession();
    const said = Array.from({ length: 1000 }, (_, at) => `word${at} `).join('');
    app.provider.enqueue([script.text(said, { chunks: 1000 }), script.finish('stop')]);
    expect(textOf(await openTurn(app.url, 'sse', sessionId, 'quick').rest())).toBe(said);
  });

  it('is not the only one that may last: so may a send', async () => {
    const { sessionId, gates } = await slowTurn();
    const sending = client.send(sessionId, 'count');
    await gates[0]?.reached;
    const turnId = (await client.session(sessionId)).activeTurn.id;
    const clock = await openStream(`${app.url}/graphql`, documents.turnEvents, { turnId });
    for (const gate of gates) {
      for (let comment = 0; comment < 10; comment += 1) await clock.nextComment();
      gate.open();
    }
    expect((await sending).content).toBe(words.join(''));
    expect((await clock.rest()).at(-1)?.event).toBe('complete');
  });
});
