import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ModelPort } from '../../../src/model/port.js';
import { callModel, createTestModel, userRequest } from '../../support/model-call.js';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import {
  bytewise,
  chunk,
  cutConnection,
  cutFin,
  delta,
  event,
  finish,
  gate,
  pause,
  ping,
  raw,
  reply,
  reset,
  type Script,
  text,
  thinking,
  toolCall,
  usage,
} from '../../support/script.js';
import { usageShapes } from '../../support/usage-shapes.js';

let provider: ScriptedProvider;
let model: ModelPort;
beforeEach(async () => {
  provider = await startProvider();
  model = createTestModel(provider.url);
});
afterEach(async () => {
  expect(provider.violations).toEqual([]);
  await provider.close();
});

async function play(...script: Script) {
  provider.enqueue(script);
  return callModel(model);
}

describe('an ordinary completion', () => {
  test('is asked for with usage and the key, and comes as text, finish reason and usage', async () => {
    const outcome = await callModel(model, userRequest('hi', { temperature: 0.5, maxOutputTokens: 7 }));
    expect(outcome).toMatchObject({ error: null, text: 'echo: hi', finish: 'stop' });
    expect(outcome.usage).toEqual({ inputTokens: 12, cachedInputTokens: 0, outputTokens: 7, reasoningTokens: 0 });
    expect(outcome.events.map(({ type }) => type)).toEqual(['text', 'finish', 'usage']);
    expect(provider.requests[0]?.headers.authorization).toBe('Bearer sk-test');
    expect(provider.requests[0]?.body).toEqual({
      model: 'scripted',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      max_tokens: 7,
    });
  });

  test('carries no Authorization header where there is no key', async () => {
    await callModel(createTestModel(provider.url, { apiKey: null }));
    expect(provider.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('brings each delta as soon as it is there', async () => {
    const opening = gate();
    provider.enqueue([text('first'), pause(opening), reply(' second')]);
    const stream = model.stream(userRequest(), new AbortController().signal)[Symbol.asyncIterator]();
    expect((await stream.next()).value).toEqual({ type: 'text', text: 'first' });
    opening.open();
    expect((await stream.next()).value).toEqual({ type: 'text', text: ' second' });
    await stream.return?.();
  });

  test('joins what comes in one read, in order', async () => {
    const outcome = await play(
      raw(
        ['a', 'b', 'c'].map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`).join(''),
      ),
      finish(),
    );
    expect(outcome.events[0]).toEqual({ type: 'text', text: 'abc' });
  });

  test('uses its connection for the next call', async () => {
    for (let call = 0; call < 3; call += 1) {
      await callModel(model);
      await provider.requests[call]?.ended;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(provider.requests.map(({ connection }) => connection)).toEqual([0, 0, 0]);
  });

  test.each(['reasoning_content', 'reasoning'] as const)('shows thinking out of %s', async (field) => {
    const outcome = await play(thinking('Let me see.', { chunks: 3, field }), text('It is 4.'), finish());
    expect(outcome).toMatchObject({ error: null, thinking: 'Let me see.', text: 'It is 4.' });
  });

  test('survives pings, unknown fields, empty deltas and a second choice', async () => {
    const outcome = await play(
      ping(),
      chunk({ choices: [], obfuscation: 'x', service_tier: { any: 1 } }),
      delta({ role: 'assistant', content: null, refusal: null, annotations: [] }),
      event({ choices: [{ index: 1, delta: { content: 'not this' } }] }),
      event({ choices: [{ delta: { content: 'this' }, logprobs: 7 }] }),
      event({ id: 7 }),
      event({ choices: null }),
      chunk({ choices: [{ index: 0, delta: null, finish_reason: 'stop' }] }),
    );
    expect(outcome).toMatchObject({ error: null, text: 'this', finish: 'stop' });
  });

  test('is whole when its last event has no blank line after it', async () => {
    const outcome = await play(
      text('a'),
      raw('data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}'),
      cutFin,
    );
    expect(outcome).toMatchObject({ error: null, text: 'ab', finish: 'stop' });
  });

  test('changes no prototype', async () => {
    const outcome = await play(
      raw(
        'data: {"__proto__":{"polluted":1},"choices":[{"__proto__":{"polluted":1},"delta":{"content":"a","__proto__":{"polluted":1}}}]}\n\n',
      ),
      finish(),
    );
    expect(outcome).toMatchObject({ error: null, text: 'a' });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('characters', () => {
  test('are exact when every byte comes alone', async () => {
    const said = '👩‍👩‍👧 漢字 é 😀';
    const outcome = await play(bytewise(text(said, { chunks: 4 }), finish(), usage({ prompt: 1, completion: 1 })));
    expect(outcome).toMatchObject({ error: null, text: said });
  });

  test('are never cut in half between two deltas', async () => {
    const between = gate();
    provider.enqueue([delta({ content: 'a\ud83d' }), pause(between), delta({ content: '\ude00b' }), finish()]);
    const call = callModel(model);
    await between.reached;
    between.open();
    const outcome = await call;
    expect(outcome.text).toBe('a😀b');
    for (const part of outcome.events) if (part.type === 'text') expect(part.text.isWellFormed()).toBe(true);
  });

  test('that Postgres refuses are replaced', async () => {
    const outcome = await play(delta({ content: 'a\0b\ude00c' }), delta({ content: 'd\ud83d' }), finish());
    expect(outcome.text).toBe('a\ufffdb\ufffdcd\ufffd');
  });

  test('keep their place where thinking and text alternate', async () => {
    const outcome = await play(thinking('a\ud83d'), text('b'), thinking('c'), finish());
    expect(
      outcome.events
        .filter(({ type }) => type === 'thinking' || type === 'text')
        .map((part) => 'text' in part && part.text)
        .join(''),
    ).toBe('a\ufffdbc');
  });

  test('that are no UTF-8 are replaced', async () => {
    const outcome = await play(
      raw(Buffer.concat([Buffer.from('data: {"choices":[{"delta":{"content":"a'), Buffer.from([0xff, 0xc3])])),
      raw('b"}}]}\n\n'),
      finish(),
    );
    expect(outcome).toMatchObject({ error: null, text: 'a\ufffd\ufffdb' });
  });
});

describe('usage', () => {
  test.each(usageShapes)('$name', async ({ around, booked }) => {
    const outcome = await play(...around([text('a')]));
    expect(outcome).toMatchObject({ error: null, text: 'a', finish: 'stop' });
    expect(outcome.usage).toEqual(booked);
    expect(outcome.events.filter(({ type }) => type === 'usage')).toHaveLength(booked ? 1 : 0);
  });

  test('counts cached and reasoning tokens as parts', async () => {
    const outcome = await play(
      text('a'),
      finish(),
      usage({ prompt: 2006, cached: 1920, completion: 266, reasoning: 261 }),
    );
    expect(outcome.usage).toEqual({
      inputTokens: 2006,
      cachedInputTokens: 1920,
      outputTokens: 266,
      reasoningTokens: 261,
    });
  });
});

describe('finish reasons', () => {
  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['eos', 'stop'],
    ['something new', 'stop'],
  ])('%s is %s', async (wire, expected) => {
    expect(await play(text('a'), finish(wire))).toMatchObject({ error: null, text: 'a', finish: expected });
  });

  test('repeated with every chunk they are no end before the end', async () => {
    const both = (content: string) => delta({ content }, 'stop');
    expect(await play(both('a'), both('b'), both('c'))).toMatchObject({ error: null, text: 'abc', finish: 'stop' });
  });

  test('a plain stop does not hide a more telling reason', async () => {
    expect(await play(text('a'), finish('length'), finish('stop'))).toMatchObject({ finish: 'length' });
  });

  test('a refusal is content_filter, and its words are kept', async () => {
    const outcome = await play(delta({ refusal: 'I cannot ' }), delta({ refusal: 'help with that.' }), finish('stop'));
    expect(outcome).toMatchObject({ error: null, text: 'I cannot help with that.', finish: 'content_filter' });
  });

  test('tool calls are told even where the provider says stop', async () => {
    const call = toolCall({ id: 'c1', name: 'calculator', arguments: { x: 1 }, chunks: 2 });
    expect(await play(call, finish('tool_calls'))).toMatchObject({ error: null, text: '', finish: 'tool_calls' });
    expect(await play(call, finish('stop'))).toMatchObject({ error: null, finish: 'tool_calls' });
  });
});

describe('once the finish reason was seen', () => {
  test.each<[string, Script]>([
    ['a clean end without [DONE]', [cutFin]],
    ['a connection closed in the middle', [cutConnection]],
    ['a reset', [reset]],
    ['a broken event', [event('{"choices":')]],
    ['an error event', [event({ error: { message: 'no usage today' } })]],
  ])('%s takes nothing away', async (_name, end) => {
    const received = gate();
    provider.enqueue([delta({ content: 'whole' }, 'stop'), pause(received), ...end]);
    expect(await callModel(model, userRequest(), undefined, received.open)).toMatchObject({
      error: null,
      text: 'whole',
      finish: 'stop',
      usage: null,
    });
  });

  test('usage that came before a reset counts', async () => {
    const received = gate();
    const choices = [{ index: 0, delta: { content: 'whole' }, finish_reason: 'stop' }];
    provider.enqueue([chunk({ choices, usage: { prompt_tokens: 3, completion_tokens: 2 } }), pause(received), reset]);
    expect(await callModel(model, userRequest(), undefined, received.open)).toMatchObject({
      error: null,
      usage: { inputTokens: 3, outputTokens: 2 },
    });
  });
});
