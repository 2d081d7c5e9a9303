import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../clients/results.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient } from '../../support/client.js';
import * as script from '../../support/script.js';

let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const user = (content: string) => ({ role: 'USER', content });
const assistant = (content: string) => ({ role: 'ASSISTANT', content });
const traceOf = (session: { traceEvents: { nodes: { type: string; data: unknown }[] } }, type: string) =>
  session.traceEvents.nodes.filter((event) => event.type === type).map((event) => event.data);

describe('seedHistory', () => {
  it('appends in order, extends when called again, and counts as no turn', async () => {
    const id = await client.createSession({ systemPrompt: 'own prompt' });
    const first = await client.seed(id, [user('a'), { role: 'SYSTEM', content: 'foreign prompt' }, assistant('b')]);
    expect(first.data?.seedHistory).toMatchObject({
      seededCount: 2,
      skippedSystemCount: 1,
      roleCounts: { user: 1, assistant: 1, tool: 0 },
      contentDigest: expect.stringMatching(/^[0-9a-f]{16}$/),
      session: { turnCount: 0, messageCount: 2 },
    });
    await client.seed(id, [user('a'), assistant('b')]);
    await client.send(id, 'c');
    const session = await client.session(id);
    expect(session.history.map((m: { content: string }) => m.content)).toEqual(['a', 'b', 'a', 'b', 'c', 'echo: c']);
    expect(session.history.map((m: { seeded: boolean }) => m.seeded)).toEqual([true, true, true, true, false, false]);
    expect(session.turnCount).toBe(1);
    expect(app.provider.requests.at(-1)?.body.messages.map((m) => m.content)).toEqual([
      'own prompt',
      'a',
      'b',
      'a',
      'b',
      'c',
    ]);
    const traced = traceOf(session, 'HISTORY_SEEDED');
    expect(traced).toHaveLength(2);
    expect(traced[0]).toMatchObject({ seedCount: 2, skippedSystem: 1, messageCountAfter: 2 });
    // The same contents have the same digest, whatever was skipped.
    expect((traced[0] as { contentDigest: string }).contentDigest).toBe(
      (traced[1] as { contentDigest: string }).contentDigest,
    );
  });

  it('stores nothing when one entry is not valid', async () => {
    const id = await client.createSession();
    await client.seed(id, [user('kept')]);
    const before = await client.session(id);
    const failed = await client.seed(id, [...Array.from({ length: 1_999 }, (_, at) => user(`m${at}`)), user('  ')]);
    expect(codesOf(failed)).toEqual(['BAD_USER_INPUT']);
    expect(failed.errors?.[0]?.message).toContain('messages[1999].content is empty');
    expect(await client.session(id)).toEqual(before);
  });

  it('takes 5,000 messages in exact order', async () => {
    const id = await client.createSession();
    const messages = Array.from({ length: 5_000 }, (_, at) =>
      at % 2 ? assistant(`answer ${at}`) : user(`question ${at}`),
    );
    expect((await client.seed(id, messages)).data?.seedHistory.seededCount).toBe(5_000);
    const { history } = await client.session(id);
    expect(history.map((m: { content: string }) => m.content)).toEqual(messages.map((m) => m.content));
    expect(history.map((m: { sequence: number }) => m.sequence)).toEqual(messages.map((_, at) => at + 1));
    await client.send(id, 'and now?');
    expect(app.provider.violations).toEqual([]);
  });

  it('takes tool rounds, which the provider then gets whole', async () => {
    const id = await client.createSession();
    const call = { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } };
    const seeded = await client.seed(id, [
      user('weather in Oslo?'),
      { role: 'ASSISTANT', content: '', toolCalls: [call, { ...call, id: 'call_2' }] },
      { role: 'TOOL', content: '12 degrees', toolCallId: 'call_1' },
      { role: 'TOOL', content: 'rain', toolCallId: 'call_2' },
      assistant('12 degrees and rain.'),
    ]);
    expect(seeded.errors).toBeUndefined();
    await client.send(id, 'thanks');
    const { messages } = app.provider.requests.at(-1)?.body ?? { messages: [] };
    expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user']);
    expect(messages[2]?.tool_calls?.map((toolCall) => [toolCall.id, JSON.parse(toolCall.function.arguments)])).toEqual([
      ['call_1', { city: 'Oslo' }],
      ['call_2', { city: 'Oslo' }],
    ]);
    const page = await client.run(
      `query ($id: ID!) { chatSession(id: $id) { history { role } messages(first: 10) { nodes { role toolCallId toolCalls { id name arguments status result } } } } }`,
      { id },
    );
    expect(page.data?.chatSession.history.map((m: { role: string }) => m.role)).not.toContain('TOOL');
    const { nodes } = page.data.chatSession.messages;
    expect(nodes[1].toolCalls).toEqual([
      { ...call, status: 'SUCCEEDED', result: '12 degrees' },
      { ...call, id: 'call_2', status: 'SUCCEEDED', result: 'rain' },
    ]);
    expect(nodes[2].toolCallId).toBe('call_1');
    expect(app.provider.violations).toEqual([]);
  });

  it('changes nothing for an empty list or one of system entries only', async () => {
    const id = await client.createSession();
    for (const messages of [[], [{ role: 'SYSTEM', content: 'x' }]]) {
      expect((await client.seed(id, messages)).data?.seedHistory).toMatchObject({ seededCount: 0 });
    }
    const session = await client.session(id);
    expect(session).toMatchObject({ messageCount: 0, traceEvents: { nodes: [] } });
  });

  it('is refused while a turn runs, and on a closed session', async () => {
    const id = await client.createSession();
    const gate = script.gate();
    app.provider.enqueue([script.pause(gate), script.reply('done', { usage: { prompt: 1, completion: 1 } })]);
    const running = client.send(id, 'wait');
    await gate.reached;
    expect(codesOf(await client.seed(id, [user('late')]))).toEqual(['TURN_IN_PROGRESS']);
    gate.open();
    await running;
    await client.run('mutation ($id: ID!) { closeChatSession(id: $id) { status } }', { id });
    expect(codesOf(await client.seed(id, [user('late')]))).toEqual(['SESSION_CLOSED']);
    expect((await client.session(id)).messageCount).toBe(2);
  });
});

describe('maxHistory', () => {
  it('0 answers but keeps nothing, the turn keeps its record', async () => {
    const id = await client.createSession({ maxHistory: 0 });
    await client.seed(id, [user('gone')]);
    const reply = await client.send(id, 'hello');
    expect(reply).toMatchObject({ content: 'echo: hello', session: { messageCount: 0, turnCount: 1 } });
    const session = await client.session(id);
    expect(session.history).toEqual([]);
    expect(session.turns.nodes[0].userMessage.content).toBe('hello');
    await client.send(id, 'who am I?');
    expect(app.provider.requests.at(-1)?.body.messages.map((m) => m.role)).toEqual(['system', 'user']);
    expect(traceOf(await client.session(id), 'HISTORY_TRIMMED')).toHaveLength(3);
  });

  it.each([1, 2, 3, 4, 5])(
    '%i never tears a tool round, never empties the window, keeps the system prompt',
    async (maxHistory) => {
      const id = await client.createSession({ maxHistory });
      await client.seed(id, [
        user('one'),
        {
          role: 'ASSISTANT',
          content: '',
          toolCalls: [
            { id: 'a', name: 'f', arguments: {} },
            { id: 'b', name: 'f', arguments: {} },
          ],
        },
        { role: 'TOOL', content: 'ra', toolCallId: 'a' },
        { role: 'TOOL', content: 'rb', toolCallId: 'b' },
      ]);
      expect((await client.session(id)).messageCount).toBeGreaterThan(0);
      for (let turn = 0; turn < 4; turn += 1) {
        await client.send(id, `turn ${turn}`);
        const { messages } = app.provider.requests.at(-1)?.body ?? { messages: [] };
        expect(messages.filter((m) => m.role === 'system')).toHaveLength(1);
        expect(messages[0]?.role).toBe('system');
        expect((await client.session(id)).messageCount).toBeLessThanOrEqual(maxHistory);
      }
      expect(app.provider.violations).toEqual([]);
    },
  );
});
