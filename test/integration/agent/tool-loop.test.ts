import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import { ToolFailure } from '../../../src/agent/tools/tool-failure.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { readAll, startTestChat, type TestChat } from '../../support/chat.js';
import { type Deferred, deferred } from '../../support/deferred.js';
import * as script from '../../support/script.js';

/** A tool that waits until the test lets its call end. */
const calls = new Map<string, { begun: Deferred<void>; end: Deferred<void> }>();
const callOf = (name: string) => {
  const call = calls.get(name) ?? { begun: deferred(), end: deferred() };
  calls.set(name, call);
  return call;
};
const order: string[] = [];
const gated = (name: string, sideEffect: 'read' | 'write') =>
  defineTool({
    name,
    description: `Waits, and ${sideEffect}s.`,
    parameters: z.object({ key: z.string() }),
    sideEffect,
    async run({ key }) {
      order.push(`begin ${key}`);
      callOf(key).begun.resolve();
      await callOf(key).end.promise;
      order.push(`end ${key}`);
      return { found: key };
    },
  });

const faulty = (name: string, run: () => unknown) =>
  defineTool({ name, description: name, parameters: z.object({}), sideEffect: 'none', timeoutMs: 100, run });

const circular: Record<string, unknown> = {};
circular.self = circular;

const tools = [
  gated('look', 'read'),
  gated('change', 'write'),
  defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: z.object({ a: z.number(), b: z.number() }),
    sideEffect: 'none',
    run: ({ a, b }) => a + b,
  }),
  faulty('throws', () => {
    throw new Error('secret of the tool');
  }),
  faulty('rejects', () => Promise.reject(new Error('secret of the tool'))),
  faulty('refuses', () => {
    throw new ToolFailure('NO_SUCH_CITY', 'logic', 'There is no city of that name.');
  }),
  faulty('hangs', () => new Promise(() => {})),
  faulty('circular', () => circular),
  faulty('silent', () => undefined),
  faulty('nul', () => 'a\0b\ud800'),
  faulty('huge', () => 'x'.repeat(5_000_000)),
];

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({}, tools);
});
afterEach(() => {
  calls.clear();
  order.length = 0;
  expect(test.provider.violations).toEqual([]);
});
afterAll(() => test.close());

const tell = (events: readonly TurnEvent[]) => events.map((event) => ('delta' in event ? event.delta : event.type));
const toolCallsOf = (turnId: string) =>
  test.rows(
    'SELECT call_id, name, status, result, error_code, duration_ms, attempts FROM tool_calls WHERE turn_id = $1 ORDER BY position, id',
    turnId,
  );

async function start(message = 'go') {
  const sessionId = await test.createSession();
  const events = await test.chat.service.stream(test.caller, { sessionId, message });
  return { sessionId, events, turnId: async () => (await readAll(events))[0]?.turnId ?? '' };
}

describe('a turn whose model calls tools', () => {
  it('runs them, tells the model, and ends with its answer', async () => {
    test.provider.enqueue(
      script.callTools([{ id: 'c1', name: 'add', arguments: { a: 2, b: 3 } }], { content: 'Let me add.' }),
      script.reply('It is 5.'),
    );
    const first = test.provider.requests.length;
    const { sessionId, events } = await start('what is 2 + 3?');
    const seen = await readAll(events);
    expect(tell(seen)).toEqual([
      'TurnStarted',
      'ContextReported',
      'Let me add.',
      'StepCompleted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'ContextReported',
      'It is 5.',
      'StepCompleted',
      'TurnCompleted',
    ]);
    const turnId = seen[0]?.turnId ?? '';
    expect(await readAll(await test.chat.service.turnEvents(test.caller, turnId))).toEqual(seen);
    const { body } = await test.provider.request(first + 1);
    expect(body.messages.slice(1)).toEqual([
      { role: 'user', content: 'what is 2 + 3?' },
      {
        role: 'assistant',
        content: 'Let me add.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":3}' } }],
      },
      { role: 'tool', content: '5', tool_call_id: 'c1' },
    ]);
    expect(await test.rows('SELECT * FROM turns WHERE id = $1', turnId)).toMatchObject([
      {
        status: 'COMPLETED',
        finish_reason: 'STOP',
        step: 2,
        tool_calls_made: 1,
        input_tokens: '20',
        output_tokens: '10',
      },
    ]);
    expect(
      await test.rows(
        'SELECT sequence, role, step, content FROM messages WHERE session_id = $1 ORDER BY sequence',
        sessionId,
      ),
    ).toEqual([
      { sequence: 1, role: 'USER', step: null, content: 'what is 2 + 3?' },
      { sequence: 2, role: 'ASSISTANT', step: 1, content: 'Let me add.' },
      { sequence: 3, role: 'TOOL', step: 1, content: '5' },
      { sequence: 4, role: 'ASSISTANT', step: 2, content: 'It is 5.' },
    ]);
    expect(
      await test.rows(
        'SELECT message_count, last_message_sequence, last_trace_sequence FROM chat_sessions WHERE id = $1',
        sessionId,
      ),
    ).toEqual([{ message_count: 4, last_message_sequence: 4, last_trace_sequence: 7 }]);
    expect(
      (await test.rows('SELECT type FROM trace_events WHERE session_id = $1 ORDER BY sequence', sessionId)).map(
        ({ type }) => type,
      ),
    ).toEqual(['TURN_STARTED', 'MODEL_CALL', 'ASSESSMENT', 'TOOL_CALL', 'MODEL_CALL', 'ASSESSMENT', 'TURN_FINISHED']);
  });

  it('runs what only reads at the same time, and keeps the results in the order of the calls', async () => {
    test.provider.enqueue(
      script.callTools([
        { id: 'c1', name: 'look', arguments: { key: 'one' } },
        { id: 'c2', name: 'look', arguments: { key: 'two' } },
      ]),
      script.reply('Both seen.'),
    );
    const { sessionId, events } = await start();
    await Promise.all([callOf('one').begun.promise, callOf('two').begun.promise]);
    callOf('two').end.resolve();
    const told: TurnEvent[] = [];
    for await (const event of events) {
      told.push(event);
      if (event.type === 'ToolCallCompleted') callOf('one').end.resolve();
    }
    expect(order).toEqual(['begin one', 'begin two', 'end two', 'end one']);
    expect(tell(told).filter((type) => type.startsWith('ToolCall'))).toEqual([
      'ToolCallStarted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'ToolCallCompleted',
    ]);
    const ids = told.flatMap((event) => ('toolCallId' in event ? [event.toolCallId] : []));
    expect(ids[2]).toBe(ids[1]);
    expect(
      await test.rows(
        "SELECT tool_call_id, content FROM messages WHERE session_id = $1 AND role = 'TOOL' ORDER BY sequence",
        sessionId,
      ),
    ).toEqual([
      { tool_call_id: 'c1', content: '{"found":"one"}' },
      { tool_call_id: 'c2', content: '{"found":"two"}' },
    ]);
  });

  it('runs what writes one by one', async () => {
    test.provider.enqueue(
      script.callTools([
        { id: 'c1', name: 'change', arguments: { key: 'one' } },
        { id: 'c2', name: 'change', arguments: { key: 'two' } },
        { id: 'c3', name: 'look', arguments: { key: 'three' } },
      ]),
      script.reply('Done.'),
    );
    for (const key of ['one', 'two', 'three']) callOf(key).end.resolve();
    const { events } = await start();
    await readAll(events);
    expect(order).toEqual(['begin one', 'end one', 'begin two', 'end two', 'begin three', 'end three']);
  });

  it.each<[string, string, unknown, { status: string; error_code: string | null; result: RegExp }]>([
    [
      'that throws',
      'throws',
      {},
      { status: 'FAILED', error_code: 'TOOL_ERROR', result: /^The tool failed\.\n\n\[advice: / },
    ],
    [
      'that rejects',
      'rejects',
      {},
      { status: 'FAILED', error_code: 'TOOL_ERROR', result: /^The tool failed\.\n\n\[advice: / },
    ],
    [
      'that fails in words of its own',
      'refuses',
      {},
      { status: 'FAILED', error_code: 'NO_SUCH_CITY', result: /^There is no city of that name\.\n\n\[advice: / },
    ],
    ['that takes too long', 'hangs', {}, { status: 'FAILED', error_code: 'TIMEOUT', result: /in time/ }],
    [
      'that gives no JSON',
      'circular',
      {},
      { status: 'FAILED', error_code: 'BAD_RESULT', result: /no text and no JSON/ },
    ],
    ['that gives nothing', 'silent', {}, { status: 'SUCCEEDED', error_code: null, result: /^\(no output\)$/ }],
    [
      'that gives what cannot be stored',
      'nul',
      {},
      { status: 'SUCCEEDED', error_code: null, result: /^a\ufffdb\ufffd$/ },
    ],
    [
      'that gives far too much',
      'huge',
      {},
      { status: 'SUCCEEDED', error_code: null, result: /^x{4096}\n\[cut: the result has 5000000/ },
    ],
    [
      'that is not there',
      'subtract',
      {},
      { status: 'FAILED', error_code: 'UNKNOWN_TOOL', result: /look, change, add/ },
    ],
    [
      'with a name that no provider takes',
      'sub tract\0!',
      {},
      { status: 'FAILED', error_code: 'UNKNOWN_TOOL', result: /no tool sub_tract__/ },
    ],
    [
      'with arguments of a wrong type',
      'add',
      { a: '2' },
      { status: 'FAILED', error_code: 'INVALID_ARGUMENTS', result: /a: .*; b: / },
    ],
    [
      'with arguments that are no object',
      'add',
      [1, 2],
      { status: 'FAILED', error_code: 'INVALID_ARGUMENTS', result: /JSON of an object/ },
    ],
    [
      'with arguments that are no JSON',
      'add',
      '{"a":',
      { status: 'FAILED', error_code: 'INVALID_ARGUMENTS', result: /JSON of an object/ },
    ],
    [
      'with arguments that cannot be stored',
      'look',
      { key: 7, '\0': '\ud800\0' },
      { status: 'FAILED', error_code: 'INVALID_ARGUMENTS', result: /key/ },
    ],
    [
      'with bottomless arguments',
      'add',
      `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
      { status: 'FAILED', error_code: 'INVALID_ARGUMENTS', result: /JSON of an object/ },
    ],
  ])('tells the model of a call %s, and goes on', async (_case, name, args, want) => {
    test.provider.enqueue(script.callTools([{ id: 'c1', name, arguments: args }]), script.reply('I see.'));
    const first = test.provider.requests.length;
    const { events } = await start();
    const seen = await readAll(events);
    expect(tell(seen).at(-1)).toBe('TurnCompleted');
    const [call] = await toolCallsOf(seen[0]?.turnId ?? '');
    expect(call).toMatchObject({ ...want, result: expect.stringMatching(want.result) });
    expect(JSON.stringify(call)).not.toContain('secret');
    expect(order).toEqual([]);
    const { body } = await test.provider.request(first + 1);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: call.result });
  });

  it('does not run a call that the output limit has cut off', async () => {
    test.provider.enqueue(
      [
        script.toolCall({ id: 'c1', name: 'add', arguments: { a: 1, b: 1 } }),
        script.toolCall({ id: 'c2', name: 'change', arguments: '{"key":"h', index: 1 }),
        script.finish('length'),
      ],
      script.reply('I will be brief.'),
    );
    const { events } = await start();
    const seen = await readAll(events);
    expect(await toolCallsOf(seen[0]?.turnId ?? '')).toMatchObject([
      { call_id: 'c1', status: 'SUCCEEDED', result: '2' },
      { call_id: 'c2', status: 'FAILED', error_code: 'INVALID_ARGUMENTS', attempts: 0 },
    ]);
    expect(order).toEqual([]);
  });

  it('gives calls without an id, or with the same, ids of their own', async () => {
    const add = { name: 'add', arguments: { a: 1, b: 1 } };
    test.provider.enqueue(
      script.callTools([
        { id: 'same', ...add },
        { id: 'same', ...add },
        { id: '', ...add },
      ]),
      script.reply('Fine.'),
    );
    const { events } = await start();
    const seen = await readAll(events);
    const rows = await toolCallsOf(seen[0]?.turnId ?? '');
    expect(rows.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
    expect(new Set(rows.map(({ call_id }) => call_id)).size).toBe(3);
  });

  it('ends when it has made as many model calls as it may, with the results in the history', async () => {
    const sessionId = await test.createSession({ maxStepsPerTurn: 2 });
    const again = script.callTools([{ id: 'c1', name: 'add', arguments: { a: 1, b: 1 } }], { content: 'Once more.' });
    test.provider.enqueue(again, again);
    const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'loop' });
    expect(
      await test.rows('SELECT status, finish_reason, tool_calls_made, step FROM turns WHERE id = $1', turnId),
    ).toEqual([{ status: 'COMPLETED', finish_reason: 'MAX_STEPS', tool_calls_made: 2, step: 2 }]);
    await test.chat.service.send(test.caller, { sessionId, message: 'and now?' });
  });

  it('offers no tools for a model whose server takes none', async () => {
    const plain = await startTestChat({
      MODELS: JSON.stringify({ scripted: { contextWindow: 8192, inputPrice: 1, outputPrice: 1, tools: false } }),
    });
    await plain.chat.service.send(plain.caller, { sessionId: await plain.createSession(), message: 'hello' });
    expect((await plain.provider.request(0)).body).not.toHaveProperty('tools');
    await plain.close();
  });

  it('offers only what its session allows', async () => {
    const sessionId = await test.createSession();
    await test.rows('UPDATE chat_sessions SET tool_names = \'["add", "gone"]\' WHERE id = $1', sessionId);
    test.provider.enqueue(
      script.callTools([{ id: 'c1', name: 'change', arguments: { key: 'x' } }]),
      script.reply('Alas.'),
    );
    const first = test.provider.requests.length;
    const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'change it' });
    const { body } = await test.provider.request(first);
    expect(body.tools).toMatchObject([{ type: 'function', function: { name: 'add' } }]);
    expect(await toolCallsOf(turnId)).toMatchObject([
      { error_code: 'UNKNOWN_TOOL', result: expect.stringMatching(/^There is no tool change. The tools are: add./) },
    ]);
  });
});
