import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoModel, startDemoModel } from '../../../src/model/demo/server.js';
import type { ModelPort, PromptMessage } from '../../../src/model/port.js';
import { callModel, captureLog, createTestModel, userRequest } from '../../support/model-call.js';

let demo: DemoModel;
let model: ModelPort;
const captured = captureLog();
beforeAll(async () => {
  demo = await startDemoModel({ log: captured.log, pace: 0 });
  model = createTestModel(demo.url, { apiKey: null });
});
afterAll(() => demo.close());

const post = (body: unknown, path = '/chat/completions') =>
  fetch(`${demo.url}${path}`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('the demo model over the wire', () => {
  test('is named in the log at start, and listens on loopback only', () => {
    expect(captured.text()).toContain('demo model');
    expect(demo.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  });

  test('streams text with usage through the adapter', async () => {
    const outcome = await callModel(model, userRequest('Hello'));
    expect(outcome).toMatchObject({ error: null, finish: 'stop' });
    expect(outcome.text).toContain('demo model');
    expect(outcome.usage?.inputTokens).toBeGreaterThan(3);
    expect(outcome.usage?.outputTokens).toBeGreaterThan(20);
  });

  test('streams its thinking apart, and counts it as a part of the output', async () => {
    const outcome = await callModel(model, userRequest('Think about the sea.'));
    expect(outcome.thinking).toContain('the sea');
    expect(outcome.text).not.toContain('The user wants');
    expect(outcome.usage?.reasoningTokens).toBeGreaterThan(10);
    expect(outcome.usage?.outputTokens).toBeGreaterThan(outcome.usage?.reasoningTokens ?? 0);
  });

  test('remembers what stands in the prompt', async () => {
    const messages: PromptMessage[] = [
      { role: 'user', content: 'My name is Ada.', images: [] },
      { role: 'assistant', content: 'Nice to meet you, Ada!', toolCalls: [] },
      { role: 'user', content: 'What is my name?', images: [] },
    ];
    expect((await callModel(model, { ...userRequest(), messages })).text).toContain('Ada');
  });

  test('keeps to an output limit and says so', async () => {
    const outcome = await callModel(model, userRequest('Tell me a long story.', { maxOutputTokens: 20 }));
    expect(outcome.finish).toBe('length');
    expect(outcome.usage?.outputTokens).toBeLessThanOrEqual(20);
  });

  test('reports a part of a long prompt as cached', async () => {
    const long = 'The ledger keeps one row for every call. '.repeat(300);
    const messages: PromptMessage[] = [
      { role: 'user', content: long, images: [] },
      { role: 'assistant', content: 'Noted.', toolCalls: [] },
      { role: 'user', content: 'Thanks', images: [] },
    ];
    const { usage } = await callModel(model, { ...userRequest(), messages });
    expect(usage?.cachedInputTokens).toBeGreaterThan(1_000);
    expect(usage?.cachedInputTokens).toBeLessThan(usage?.inputTokens ?? 0);
  });

  test('gives exactly the text that it was told to say', async () => {
    const said = `👩‍👩‍👧 漢字かな交じり文 ${'x'.repeat(100)}\n\n  - a  b`;
    expect((await callModel(model, userRequest(`Say: ${said}`))).text).toBe(said);
  });

  test('writes at a readable pace, and stops when its reader leaves', async () => {
    const slow = await startDemoModel({ log: pino({ level: 'silent' }), pace: 50 });
    const abort = new AbortController();
    const before = performance.now();
    let pieces = 0;
    const outcome = await callModel(
      createTestModel(slow.url),
      userRequest('Tell me a long story.'),
      abort.signal,
      () => {
        pieces += 1;
        if (pieces === 10) abort.abort(new Error('enough'));
      },
    );
    const took = performance.now() - before;
    expect(String(outcome.error)).toContain('enough');
    expect(took).toBeGreaterThan(150);
    expect(took).toBeLessThan(8_000);
    await slow.close();
  });

  test('answers without a stream and lists itself as a model', async () => {
    const whole = await (await post({ messages: [{ role: 'user', content: 'What is 17 * 23?' }] })).json();
    expect(whole).toMatchObject({
      object: 'chat.completion',
      model: 'demo',
      choices: [{ message: { role: 'assistant', content: '17 * 23 = 391' }, finish_reason: 'stop' }],
    });
    const models = await (await fetch(`${demo.url}/models`)).json();
    expect(models).toMatchObject({ object: 'list', data: [{ id: 'demo', object: 'model' }] });
  });

  test('calls a tool that it was offered', async () => {
    const tools = [
      { type: 'function', function: { name: 'calculator', parameters: { properties: { expression: {} } } } },
    ];
    const messages = [{ role: 'user', content: 'What is 17 * 23?' }];
    const body = await (await post({ messages, tools, stream: true, stream_options: { include_usage: true } })).text();
    expect(body).toContain('"name":"calculator"');
    expect(body).toContain('"finish_reason":"tool_calls"');
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('refuses what is no request in the protocol’s own form', async () => {
    for (const [response, status] of [
      [await post('{'), 400],
      [await post({ model: 'demo' }), 400],
      [await post({}, '/elsewhere'), 404],
      [await fetch(`${demo.url}/chat/completions`), 405],
    ] as const) {
      expect(response.status).toBe(status);
      expect(await response.json()).toHaveProperty('error.message');
    }
  });
});
