import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { chatClient } from '../support/client.js';
import * as script from '../support/script.js';

const written: unknown[] = [];
let app: TestApp;
beforeAll(async () => {
  const write = defineTool({
    name: 'write_file',
    description: 'Writes a file.',
    // Nothing is required, so whatever a repair makes of the arguments would be valid.
    parameters: { type: 'object' },
    sideEffect: 'write',
    run: (args) => written.push(args),
  });
  app = await startTestApp({}, { tools: [write] });
});
afterEach(() => {
  expect(app.provider.violations).toEqual([]);
  written.length = 0;
});
afterAll(() => app.close());

it.each([
  ['in the middle of a text', '{"path":"/etc/hosts","content":"127.0'],
  ['behind a value', '{"path":"/etc/hosts","content":"127.0.0.1"'],
  ['behind a name', '{"path":'],
  ['before anything came', '{'],
])('arguments that are cut off %s are not run, whatever the provider says of the end', async (_where, cut) => {
  for (const reason of ['length', 'tool_calls']) {
    const client = chatClient(app.url);
    const sessionId = await client.createSession();
    const first = app.provider.requests.length;
    app.provider.enqueue(
      [script.toolCall({ id: 'c1', name: 'write_file', arguments: cut }), script.finish(reason)],
      script.reply('I will be brief.'),
    );
    await client.send(sessionId, 'write it');
    expect(written).toEqual([]);
    const { body } = await app.provider.request(first + 1);
    expect(body.messages.at(-1)).toMatchObject({
      role: 'tool',
      tool_call_id: 'c1',
      content: expect.stringMatching(/^Not run: the arguments were cut off or are not the JSON of an object\.\n/),
    });
  }
});

it.each<[string, string, string, unknown[]]>([
  ['while its arguments looked whole', '{"path":"/tmp/a"}', '{"path":"/tmp/b"', [{ path: '/tmp/a' }]],
  ['when only the name of the one before had come', '', '{', []],
])('a call that the limit cut off %s is not run', async (_when, before, cut, want) => {
  const client = chatClient(app.url);
  const sessionId = await client.createSession();
  app.provider.enqueue(
    [
      script.toolCall({ id: 'c1', name: 'write_file', arguments: before }),
      script.toolCall({ id: 'c2', name: 'write_file', arguments: cut, index: 1 }),
      script.finish('length'),
    ],
    script.reply('One at a time.'),
  );
  await client.send(sessionId, 'write both');
  expect(written).toEqual(want);
});
