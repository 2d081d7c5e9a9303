import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import * as script from '../support/script.js';

// Field report A42: providers repeat, skip or leave out the index of streamed tool calls, or the id on later pieces, and
// two calls become a broken one.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const head = (id: string, index?: number) =>
  script.delta({ tool_calls: [{ index, id, type: 'function', function: { name: 'calculator', arguments: '' } }] });
const piece = (text: string, fields: { index?: number; id?: string } = {}) =>
  script.delta({ tool_calls: [{ ...fields, function: { arguments: text } }] });
const whole = (expression: string, fields: { index?: number; id?: string }) =>
  script.delta({
    tool_calls: [{ ...fields, function: { name: 'calculator', arguments: JSON.stringify({ expression }) } }],
  });
const end = [script.finish('tool_calls'), script.usage({ prompt: 5, completion: 5 })];

it.each<[string, script.Script]>([
  [
    'one index for two ids',
    [
      head('a', 0),
      piece('{"expression":', { index: 0, id: 'a' }),
      piece('"1+1"}', { index: 0, id: 'a' }),
      head('b', 0),
      piece('{"expression":"2+2"}', { index: 0, id: 'b' }),
    ],
  ],
  [
    'a first index of 3',
    [
      head('a', 3),
      piece('{"expression":"1+1"}', { index: 3 }),
      head('b', 4),
      piece('{"expression":"2+2"}', { index: 4 }),
    ],
  ],
  ['no index', [head('a'), piece('{"expression":"1+1"}'), head('b'), piece('{"expression":', {}), piece('"2+2"}')]],
  [
    'no id on later pieces, which come in turns',
    [
      head('a', 0),
      head('b', 1),
      piece('{"expression":', { index: 1 }),
      piece('{"expression":"1', { index: 0 }),
      piece('"2+2"}', { index: 1 }),
      piece('+1"}', { index: 0 }),
    ],
  ],
  ['one index and no ids, whole calls', [whole('1+1', { index: 0, id: '' }), whole('2+2', { index: 0, id: '' })]],
  [
    'no index, in turns under their ids',
    [
      head('a'),
      head('b'),
      piece('{"expression":"1', { id: 'a' }),
      piece('{"expression":"2', { id: 'b' }),
      piece('+1"}', { id: 'a' }),
      piece('+2"}', { id: 'b' }),
    ],
  ],
  ['one id and no index, whole calls', [whole('1+1', { id: 'a' }), whole('2+2', { id: 'a' })]],
])('calls with %s are two calls, each with its own arguments', async (_what, calls) => {
  const sessionId = await client.createSession();
  app.provider.enqueue([...calls, ...end], script.reply('2 and 4.'));
  const { content, toolCallsMade } = await client.send(sessionId, 'add');
  expect(content).toBe('2 and 4.');
  expect(toolCallsMade).toBe(2);
  const prompt = app.provider.requests.at(-1)?.body.messages as {
    role: string;
    content: string;
    tool_call_id?: string;
  }[];
  const results = prompt.filter(({ role }) => role === 'tool');
  expect(results.map((result) => result.content)).toEqual(['2', '4']);
  // Calls without an id of their own are given one.
  if (JSON.stringify(calls).includes('"id":"b"')) {
    expect(results.map((result) => result.tool_call_id)).toEqual(['a', 'b']);
  }
});
