import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, type Transport } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';

// Field report A36: the parts of a reply come back in another order than they were streamed in. Within a turn these are
// its thinking and its text; tool rounds exist in seeded histories, and their order is tested there.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const parts: readonly (readonly ['ThinkingDelta' | 'TextDelta', string])[] = [
  ['ThinkingDelta', 'First I think. '],
  ['TextDelta', 'Then I say. '],
  ['ThinkingDelta', 'Then I think again. '],
  ['TextDelta', 'Then I say more. '],
  ['ThinkingDelta', 'A last thought. '],
  ['TextDelta', 'And I am done.'],
];
const streamed = (from: number, to: number): script.Script =>
  parts
    .slice(from, to)
    .map(([kind, words]) =>
      kind === 'TextDelta' ? script.text(words, { chunks: 3 }) : script.thinking(words, { chunks: 3 }),
    );
const ending = [script.finish('stop'), script.usage({ prompt: 5, completion: 30 })];
const text = parts.flatMap(([kind, words]) => (kind === 'TextDelta' ? [words] : [])).join('');

type Event = { readonly __typename: string; readonly delta?: string };

/** The deltas of a turn with neighbours of one kind joined: what a client shows. */
function shown(events: readonly Event[]): (readonly [string, string])[] {
  const joined: [string, string][] = [];
  for (const { __typename, delta } of events) {
    if (delta === undefined) continue;
    const last = joined.at(-1);
    if (last?.[0] === __typename) last[1] += delta;
    else joined.push([__typename, delta]);
  }
  return joined;
}

describe.each<Transport>(['ws', 'sse'])('a turn of thinking and text in turns, over %s,', (transport) => {
  const replay = async (turnId: string, url = app.url) => openEvents(url, transport, turnEvents, { turnId }).rest();

  it('has one order: live, for who joins in the middle, told again, and in the history', async () => {
    const sessionId = await client.createSession();
    const middle = script.gate();
    app.provider.enqueue([streamed(0, 3), script.pause(middle), streamed(3, 6), ending]);
    const live = openTurn(app.url, transport, sessionId, 'go');
    const events = [await live.next()];
    while (shown(events).length < 3) events.push(await live.next());
    const { turnId } = events[0];
    const late = openEvents(app.url, transport, turnEvents, { turnId });
    const before = [await late.next()];
    while (shown(before).length < 3) before.push(await late.next());
    expect(shown(before).map(([kind]) => kind)).toEqual(['ThinkingDelta', 'TextDelta', 'ThinkingDelta']);
    middle.open();
    events.push(...(await live.rest()));
    expect(shown(events)).toEqual(parts);
    expect(shown([...before, ...(await late.rest())])).toEqual(parts);
    expect(shown(await replay(turnId))).toEqual(parts);
    const { history, turns } = await client.session(sessionId);
    expect(history.map(({ content }: { content: string }) => content)).toEqual(['go', text]);
    expect(turns.nodes[0].messages.map(({ content }: { content: string }) => content)).toEqual(['go', text]);
  });

  it('keeps it through a stop and a failure in the middle', async () => {
    const sessionId = await client.createSession();
    app.provider.enqueue([streamed(0, 4), script.cutFin]);
    const failed = await openTurn(app.url, transport, sessionId, 'fail').rest();
    expect(shown(failed)).toEqual(parts.slice(0, 4));
    expect(shown(await replay(failed[0].turnId))).toEqual(parts.slice(0, 4));

    app.provider.enqueue([streamed(0, 5), script.silence()]);
    const turn = openTurn(app.url, transport, sessionId, 'stop');
    const events = [await turn.next()];
    while (shown(events).length < 5) events.push(await turn.next());
    await client.stop(sessionId);
    events.push(...(await turn.rest()));
    // The last thought may have been cut; what had come of it is in both.
    expect(shown(events).slice(0, 4)).toEqual(parts.slice(0, 4));
    expect(shown(await replay(events[0].turnId))).toEqual(shown(events));
  });
});

describe('after a restart', () => {
  it('a turn of thinking and text is told in the order of its parts', async () => {
    const other = await startTestApp();
    try {
      const { createSession } = chatClient(other.url);
      const sessionId = await createSession();
      other.provider.enqueue([streamed(0, 6), ending]);
      const events = await openTurn(other.url, 'ws', sessionId, 'go').rest();
      const { url } = await other.restart();
      const again = await openEvents(url, 'ws', turnEvents, { turnId: events[0].turnId }).rest();
      expect(shown(again)).toEqual(parts);
      expect((await chatClient(url).session(sessionId)).history[1].content).toBe(text);
    } finally {
      await other.close();
    }
  });
});

describe('a seeded history with tool rounds', () => {
  it('keeps calls, results and texts in their order, for the client and for the model', async () => {
    const sessionId = await client.createSession();
    const call = (id: string) => ({ id, name: 'look_up', arguments: { about: id } });
    const messages = [
      { role: 'USER', content: 'compare' },
      { role: 'ASSISTANT', content: 'I look twice.', toolCalls: [call('z'), call('a')] },
      // Parallel calls may be answered in any order.
      { role: 'TOOL', content: 'about a', toolCallId: 'a' },
      { role: 'TOOL', content: 'about z', toolCallId: 'z' },
      { role: 'ASSISTANT', content: 'And once more.', toolCalls: [call('m')] },
      { role: 'TOOL', content: 'about m', toolCallId: 'm' },
      { role: 'ASSISTANT', content: 'z is larger.' },
    ];
    expect((await client.seed(sessionId, messages)).errors).toBeUndefined();
    await client.send(sessionId, 'thanks');
    const { data } = await client.run(
      'query ($id: ID!) { chatSession(id: $id) { messages(first: 7) { nodes { role content toolCallId toolCalls { id result } } } } }',
      { id: sessionId },
    );
    const { nodes } = data.chatSession.messages;
    expect(nodes.map(({ role, content }: { role: string; content: string }) => [role, content])).toEqual(
      messages.map(({ role, content }) => [role, content]),
    );
    expect(nodes[1].toolCalls).toEqual([
      { id: 'z', result: 'about z' },
      { id: 'a', result: 'about a' },
    ]);
    const body = app.provider.requests.at(-1)?.body.messages ?? [];
    // The model gets the results in the order of their calls.
    const [user, calls, a, z, ...rest] = messages.map(({ content }) => content);
    expect(body.slice(1, -1).map(({ content }) => content)).toEqual([user, calls, z, a, ...rest]);
    expect(body[2]?.tool_calls?.map(({ id }) => id)).toEqual(['z', 'a']);
    expect(body.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id)).toEqual(['z', 'a', 'm']);
    expect(app.provider.violations).toEqual([]);
  });
});
