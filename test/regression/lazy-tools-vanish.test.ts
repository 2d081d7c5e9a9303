import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { readAll, startTestChat, type TestChat } from '../support/chat.js';
import { prose } from '../support/histories.js';
import * as script from '../support/script.js';

const things = Array.from({ length: 60 }, (_, at) => `thing${at}`);
const tools = [
  ...things.map((thing) =>
    defineTool({
      name: `read_${thing}`,
      description: `Reads ${thing} from the archive of the company, with all that belongs to it. ${prose(20, 7)}`,
      parameters: z.object({ id: z.string() }),
      sideEffect: 'read',
      run: ({ id }) => `${thing} ${id}`,
    }),
  ),
  defineTool({
    name: 'send_postcard',
    description: 'Sends greetings by mail.',
    parameters: z.object({ text: z.string() }),
    sideEffect: 'read',
    run: () => 'on its way',
  }),
];

let test: TestChat;
beforeAll(async () => {
  const prices = { inputPrice: 1, outputPrice: 1 };
  test = await startTestChat(
    {
      BUDGET_MAX_TOKENS: '100000000',
      MODELS: JSON.stringify({
        scripted: { contextWindow: 8_192, maxOutputTokens: 1_024, ...prices },
        small: { contextWindow: 4_096, maxOutputTokens: 1_024, ...prices },
      }),
    },
    tools,
  );
  test.provider.onRequest(({ body }) =>
    String(body.messages[0]?.content).startsWith('You keep the notes') ? script.reply('Notes.') : undefined,
  );
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const shown = () =>
  ((test.provider.requests.at(-1)?.body.tools ?? []) as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
const send = (sessionId: string, message: string) => test.chat.service.send(test.caller, { sessionId, message });

describe('one of many tools', () => {
  it('is found, stays when it was used, and can be called after the conversation was shortened', async () => {
    const sessionId = await test.createSession();
    const call = { name: 'send_postcard', arguments: { text: 'hello' } };
    test.provider.enqueue(
      script.callTools([{ id: 'f', name: 'find_tools', arguments: { query: 'greetings by mail' } }]),
    );
    const events = await readAll(
      await test.chat.service.stream(test.caller, { sessionId, message: 'read thing7 please' }),
    );
    const reports = events.flatMap((event) => (event.type === 'ContextReported' ? [event.report] : []));
    expect(reports[0]?.toolsAvailable).toBe(62);
    expect(reports[0]?.toolsLoaded).toBeLessThan(40);
    expect(shown()).toEqual(expect.arrayContaining(['find_tools', 'ask_user', 'send_postcard', 'read_thing7']));

    test.provider.enqueue(script.callTools([{ id: 'c1', ...call }]));
    await send(sessionId, 'send one');
    await test.chat.service.seedHistory(
      test.caller,
      sessionId,
      Array.from({ length: 60 }, (_, at) => [
        { role: 'USER' as const, content: `${at}: ${prose(90, at + 1)}` },
        { role: 'ASSISTANT' as const, content: prose(90, at + 2) },
      ]).flat(),
    );
    await send(sessionId, 'nothing of that kind');
    expect(shown()).toContain('send_postcard');
    test.provider.enqueue(script.callTools([{ id: 'c2', ...call }]));
    await send(sessionId, 'one more');
    expect(test.provider.requests.at(-1)?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'on its way' });
  });

  it('runs when it is called by its name, though it was not shown', async () => {
    const sessionId = await test.createSession();
    test.provider.enqueue(script.callTools([{ id: 'h', name: 'read_thing44', arguments: { id: '1' } }]));
    await send(sessionId, 'hello');
    expect(test.provider.requests.at(-1)?.body.messages.at(-1)?.content).toBe('thing44 1');
    expect(shown()).toContain('read_thing44');
  });
});

it('what is found in a small window is shown, however long its description is', async () => {
  const clientTools = things.slice(0, 40).map((thing) => ({
    name: `tell_${thing}`,
    description: `Tells ${thing}. "Quoted" words: ${prose(60, 3)}`,
    parameters: { type: 'object', properties: {} },
  }));
  const sessionId = await test.createSession({ model: 'small', clientTools });
  test.provider.enqueue(script.callTools([{ id: 'f', name: 'find_tools', arguments: { query: 'tell thing33' } }]));
  await send(sessionId, 'go');
  expect(shown()).toContain('tell_thing33');
});
