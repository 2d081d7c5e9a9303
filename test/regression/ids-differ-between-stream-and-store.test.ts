import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport, textOf } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';

// Field report A34: an id in the stream differs from the id in the store, so that a client shows a message twice or
// cannot find it again. The same kind: the positions (cursors, sequences) and times of live events.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ MODEL_MAX_RETRIES: '0' });
  client = chatClient(app.url);
});
afterAll(() => app.close());

const said = 'first words, second words';
const head = [script.thinking('hm'), script.text(said, { chunks: 4 })];
const tail = script.usage({ prompt: 9, completion: 9 });

/** How a turn can end, and whether its user stops it. */
const endings: readonly [string, script.Script, boolean][] = [
  ['completes', [head, script.finish('stop'), tail], false],
  ['is cut by the length limit', [head, script.finish('length'), tail], false],
  ['fails in the middle', [head, script.cutFin], false],
  ['is stopped', [head, script.silence()], true],
];

/** Every id that an answer holds, wherever it stands. */
function idsIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, member]) =>
    ['id', 'turnId', 'messageId'].includes(key) && typeof member === 'string' ? [member] : idsIn(member),
  );
}

async function streamTurn(transport: Transport, sessionId: string, ending: (typeof endings)[number]) {
  const [, scripted, stopped] = ending;
  app.provider.enqueue(scripted);
  const turn = openTurn(app.url, transport, sessionId, 'go');
  if (!stopped) return turn.rest();
  const events = [await turn.next()];
  while (textOf(events) !== said) events.push(await turn.next());
  await client.stop(sessionId);
  return [...events, ...(await turn.rest())];
}

const transports: readonly Transport[] = ['ws', 'sse'];
const cases = endings.flatMap((ending) => transports.map((transport) => [ending[0], transport, ending] as const));

describe.each(cases)('a turn that %s, streamed over %s', (_what, transport, ending) => {
  it.each([null, 0])('shows only ids that the store knows, with maxHistory %s', async (maxHistory) => {
    const sessionId = await client.createSession({ maxHistory, maxStepsPerTurn: 1 });
    const events = await streamTurn(transport, sessionId, ending);
    const ids = [...new Set(events.flatMap(idsIn))];
    // The session, the turn, the user's message and the reply, and none twice under another name.
    expect(ids).toHaveLength(4);
    for (const id of ids) {
      const { data, errors } = await client.run('query ($id: ID!) { node(id: $id) { id __typename } }', { id });
      expect(errors).toBeUndefined();
      expect(data.node.id).toBe(id);
    }
    const { history, turns } = await client.session(sessionId);
    const [turn] = turns.nodes;
    const reply = turn.messages[1];
    expect(new Set(ids)).toEqual(new Set([sessionId, turn.id, turn.userMessage.id, reply.id]));
    const deltas = events.filter(({ __typename }) => __typename === 'TextDelta');
    expect(new Set(deltas.map(({ messageId }) => messageId))).toEqual(new Set([reply.id]));
    expect(events.at(-1).response.message.id).toBe(reply.id);
    expect(reply.content).toBe(said);
    if (maxHistory === null)
      expect(history.map(({ id }: { id: string }) => id)).toEqual([turn.userMessage.id, reply.id]);
    else expect(history).toEqual([]);
  });

  it('gives cursors that stay good: from each of them exactly the rest is told again', async () => {
    const sessionId = await client.createSession();
    const events = await streamTurn(transport, sessionId, ending);
    const { turnId } = events[0];
    for (const [at, { cursor, sequence }] of events.entries()) {
      const rest = await openEvents(app.url, transport, turnEvents, { turnId, after: cursor }).rest();
      expect(textOf(rest)).toBe(textOf(events.slice(at + 1)));
      for (const event of rest) expect(event.sequence).toBeGreaterThan(sequence);
      const last = (list: typeof events) => list.at(-1)?.sequence;
      expect(last(rest)).toBe(last(events.slice(at + 1)));
    }
  });

  it('is told again with the same end, at the same time and place', async () => {
    const sessionId = await client.createSession();
    const events = await streamTurn(transport, sessionId, ending);
    const again = await openEvents(app.url, transport, turnEvents, { turnId: events[0].turnId }).rest();
    expect(again.at(-1)).toEqual(events.at(-1));
    expect(again[0]).toMatchObject({ sequence: events[0].sequence, cursor: events[0].cursor, at: events[0].at });
  });
});

describe('an answer of send', () => {
  it('names the same objects as the queries and the events', async () => {
    const sessionId = await client.createSession();
    const answer = await client.send(sessionId, 'hello');
    const events = await openEvents(app.url, 'ws', turnEvents, { turnId: answer.turn.id }).rest();
    expect(events.at(-1).response).toEqual(answer);
    const { history, turns } = await client.session(sessionId);
    expect(turns.nodes[0].id).toBe(answer.turn.id);
    expect(history[1].id).toBe(answer.message.id);
    expect(answer.session.id).toBe(sessionId);
  });

  it('names in its error the turn that failed, by the id that the queries know', async () => {
    const sessionId = await client.createSession();
    app.provider.enqueue([script.httpError(500)]);
    const failed = await client.trySend(sessionId, 'hello');
    const { turns } = await client.session(sessionId);
    expect(failed.errors?.[0]?.extensions?.turnId).toBe(turns.nodes[0].id);
  });

  it('names in its error the turn that stands in the way, by an id that can be followed', async () => {
    const sessionId = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('done')]);
    const running = client.send(sessionId, 'slow');
    await gate.reached;
    const refused = await client.trySend(sessionId, 'impatient');
    const turnId = refused.errors?.[0]?.extensions?.turnId;
    const follower = openEvents(app.url, 'ws', turnEvents, { turnId });
    gate.open();
    expect(textOf(await follower.rest())).toBe('done');
    expect((await running).turn.id).toBe(turnId);
  });
});

describe('seeded messages', () => {
  it('keep their ids when turns follow', async () => {
    const sessionId = await client.createSession();
    await client.seed(sessionId, [
      { role: 'USER', content: 'a' },
      { role: 'ASSISTANT', content: 'b' },
    ]);
    const ids = async () => (await client.session(sessionId)).history.map(({ id }: { id: string }) => id);
    const seeded = await ids();
    await client.send(sessionId, 'c');
    expect((await ids()).slice(0, 2)).toEqual(seeded);
  });
});
