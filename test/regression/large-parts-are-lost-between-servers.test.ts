import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, textOf } from '../support/client.js';
import { turnEvents } from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';

// Field report A81: what one server tells another is limited to 8000 bytes, and a larger part fails or takes the write
// with it. Two servers on one database here; a turn runs in the first and is followed from the second. Tools that run
// do not exist yet, so the large tool result is a seeded one.
let app: TestApp;
let second: SecondApp;
let here: ChatClient;
let there: ChatClient;
beforeAll(async () => {
  const env = { TURN_LEASE_MS: '1500' };
  app = await startTestApp(env);
  second = await startSecondApp(app, env);
  here = chatClient(app.url);
  there = chatClient(second.url);
});
afterAll(async () => {
  await second.close();
  await app.close();
});

/** A text of this many bytes, in which every place looks different and some characters take four bytes. */
function textOfBytes(bytes: number, mark: string): string {
  let text = '';
  for (let line = 0; text.length < bytes; line += 1) text += `${mark} line ${line}: 你好 👩‍🚀 and plain words.\n`;
  let cut = Buffer.from(text).subarray(0, bytes).toString('utf8');
  // The last character may have been cut in two.
  while (Buffer.byteLength(cut) > bytes || cut.endsWith('\ufffd')) cut = cut.slice(0, -1);
  return cut + '.'.repeat(bytes - Buffer.byteLength(cut));
}

const chunks = ['a', 'b', 'c', 'd', 'e'].map((mark) => textOfBytes(20_000, mark));
const whole = chunks.join('');
const ending = [script.finish('stop'), script.usage({ prompt: 10, completion: 30_000 })];

describe('a reply of 100 kB in chunks of 20 kB', () => {
  it.each(['ws', 'sse'] as const)(
    'is followed from another server over %s, as it grows and whole',
    async (transport) => {
      const id = await here.createSession();
      const afterOne = script.gate();
      const afterThree = script.gate();
      const write = (from: number, to: number) => chunks.slice(from, to).map((content) => script.delta({ content }));
      app.provider.enqueue([
        [write(0, 1), script.pause(afterOne)],
        [write(1, 3), script.pause(afterThree)],
        [write(3, 5), ending],
      ]);
      const started = await openTurn(app.url, 'ws', id, 'write much').next();
      const follower = openEvents(second.url, transport, turnEvents, { turnId: started.turnId });
      let seen = '';
      for (const { gate, written } of [
        { gate: afterOne, written: 1 },
        { gate: afterThree, written: 3 },
      ]) {
        await gate.reached;
        // It is told while the turn runs: the other server learns of it from what the first has stored.
        const expected = chunks.slice(0, written).join('');
        while (seen.length < expected.length) seen += (await follower.next()).delta ?? '';
        expect(seen).toBe(expected);
        gate.open();
      }
      const rest = await follower.rest();
      expect(seen + textOf(rest)).toBe(whole);
      expect(rest.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: whole } });
      for (const client of [here, there]) {
        const { history, activeTurn, totalTokens } = await client.session(id);
        expect(history[1]).toMatchObject({ content: whole, status: 'COMPLETE' });
        expect([activeTurn, totalTokens]).toEqual([null, 30_010]);
      }
    },
    30_000,
  );

  it('arrives whole in one chunk, too, with as much thinking in front of it', async () => {
    const id = await here.createSession();
    app.provider.enqueue([script.delta({ reasoning_content: whole }), script.delta({ content: whole }), ending]);
    const started = await openTurn(app.url, 'ws', id, 'all at once').next();
    const events = await openEvents(second.url, 'ws', turnEvents, { turnId: started.turnId }).rest();
    const thought = events.filter(({ __typename }) => __typename === 'ThinkingDelta').map(({ delta }) => delta);
    expect(thought.join('')).toBe(whole);
    expect(textOf(events)).toBe(whole);
    expect(events.at(-1).response.content).toBe(whole);
  });

  it('is stopped from the other server, and what had come is kept whole', async () => {
    const id = await here.createSession();
    app.provider.enqueue([chunks.slice(0, 3).map((content) => script.delta({ content })), script.silence()]);
    const turn = openTurn(app.url, 'ws', id, 'write much');
    let seen = '';
    await turn.until(({ delta = '' }) => {
      seen += delta;
      return seen.length === chunks.slice(0, 3).join('').length;
    });
    expect(await there.stop(id)).toMatchObject({ status: 'STOPPED' });
    expect((await there.session(id)).history[1]).toMatchObject({ content: seen, status: 'PARTIAL' });
    expect((await turn.rest()).at(-1)).toMatchObject({ __typename: 'TurnStopped', response: { content: seen } });
  });
});

describe('other large parts', () => {
  it('a tool result of 100 kB is stored, shown by both servers, and given to the model', async () => {
    const id = await here.createSession({ budget: { maxTokens: null } });
    const result = textOfBytes(100_000, 'r');
    const seeded = await here.seed(id, [
      { role: 'USER', content: 'look' },
      {
        role: 'ASSISTANT',
        content: '',
        toolCalls: [{ id: 'c', name: 'look', arguments: { at: result.slice(0, 30_000) } }],
      },
      { role: 'TOOL', content: result, toolCallId: 'c' },
    ]);
    expect(seeded.errors).toBeUndefined();
    const document =
      'query ($id: ID!) { chatSession(id: $id) { messages(first: 3) { nodes { content toolCalls { arguments result } } } } }';
    for (const { run } of [here, there]) {
      const { nodes } = (await run(document, { id })).data.chatSession.messages;
      expect(nodes[2].content).toBe(result);
      expect(nodes[1].toolCalls).toEqual([{ arguments: { at: result.slice(0, 30_000) }, result }]);
    }
  });

  it('a question of the largest size that is taken reaches the model and the other server unchanged', async () => {
    const message = textOfBytes(1_048_576, 'q');
    const big = await startSecondApp(app, {
      MODELS: JSON.stringify({
        scripted: { contextWindow: 2_000_000, maxOutputTokens: 100, inputPrice: 0, outputPrice: 0 },
      }),
    });
    try {
      const id = await chatClient(big.url).createSession({ budget: { maxTokens: null } });
      app.provider.enqueue([script.reply('read')]);
      await chatClient(big.url).send(id, message);
      expect(app.provider.requests.at(-1)?.body.messages.at(-1)?.content).toBe(message);
      expect((await there.session(id)).history[0].content).toBe(message);
    } finally {
      await big.close();
    }
  }, 30_000);
});
