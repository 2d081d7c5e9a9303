import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lastUserText, type ScriptedProvider, startProvider } from '../../support/provider.js';
import {
  bytewise,
  callTools,
  cutConnection,
  cutFin,
  event,
  finish,
  gate,
  httpError,
  paced,
  pause,
  reply,
  reset,
  silence,
  text,
} from '../../support/script.js';

const ask = (provider: ScriptedProvider, content: string, signal?: AbortSignal) =>
  fetch(`${provider.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], stream: true }),
    ...(signal ? { signal } : {}),
  });

interface WireChunk {
  readonly choices: readonly {
    readonly finish_reason: string | null;
    readonly delta: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
}

const chunksOf = (body: string): WireChunk[] =>
  body
    .split('\n\n')
    .filter((block) => block.startsWith('data: {'))
    .map((block) => JSON.parse(block.slice('data: '.length)) as WireChunk);

const contentOf = (body: string) =>
  chunksOf(body)
    .map(({ choices: [choice] }) => choice?.delta.content ?? '')
    .join('');

describe('the scripted provider', () => {
  let provider: ScriptedProvider;
  beforeEach(async () => {
    provider = await startProvider();
  });
  afterEach(() => provider.close());

  test('echoes by default and keeps what it was asked', async () => {
    const body = await (await ask(provider, 'hello')).text();
    expect(body).toContain('"content":"echo: hello"');
    expect(body).toContain('"prompt_tokens":15');
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(provider.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'hello' }]);
    expect(provider.violations).toEqual([]);
  });

  test('plays queued scripts in order and answers the rest by the handler', async () => {
    provider.enqueue([text('one'), finish()], [httpError(503)]);
    provider.onRequest((request) => [text(`number ${request.index}`), finish()]);
    expect(await (await ask(provider, 'a')).text()).toContain('"one"');
    expect((await ask(provider, 'b')).status).toBe(503);
    expect(await (await ask(provider, 'c')).text()).toContain('number 2');
  });

  test('waits at a gate, with everything before it on the wire', async () => {
    const opening = gate();
    provider.enqueue([text('before'), pause(opening), text('after'), finish()]);
    const response = await ask(provider, 'x');
    await opening.reached;
    opening.open();
    expect(await response.text()).toMatch(/before.*after/s);
  });

  test('notices a client that hangs up in the middle, and one that does not', async () => {
    const abort = new AbortController();
    provider.enqueue([text('a'), silence()]);
    const response = await ask(provider, 'x', abort.signal);
    const request = await provider.request(0);
    expect(request.isHungUp()).toBe(false);
    abort.abort();
    await request.hungUp;
    await expect(response.text()).rejects.toThrow();
    await (await ask(provider, 'y')).text();
    await provider.requests[1]?.ended;
    expect(provider.requests[1]?.isHungUp()).toBe(false);
  });

  test('flushes byte by byte without damage', async () => {
    provider.enqueue(bytewise(event('👩‍👩‍👧 漢')));
    expect(await (await ask(provider, 'x')).text()).toBe('data: 👩‍👩‍👧 漢\n\ndata: [DONE]\n\n');
  });

  test('cuts in three ways', async () => {
    provider.enqueue([text('a'), cutFin], [text('a'), cutConnection], [text('a'), reset]);
    expect(await (await ask(provider, 'x')).text()).not.toContain('[DONE]');
    await expect(ask(provider, 'x').then((response) => response.text())).rejects.toThrow();
    await expect(ask(provider, 'x').then((response) => response.text())).rejects.toThrow();
  });

  test('reports a prompt that a strict provider would refuse', async () => {
    await (await ask(provider, ' ')).text();
    expect(provider.violations).toEqual(['request 0: message 0 (user): is blank']);
  });

  test('answers many requests at once, each by what it asks', async () => {
    provider.onRequest((request) => reply(`you said ${lastUserText(request)}`, { chunks: 5 }));
    const names = Array.from({ length: 30 }, (_, at) => `number ${at}`);
    const bodies = await Promise.all(names.map(async (name) => (await ask(provider, name)).text()));
    for (const [at, body] of bodies.entries()) expect(contentOf(body)).toBe(`you said number ${at}`);
  });

  test('takes its time between chunks, and not once its client has gone', async () => {
    const started = performance.now();
    provider.enqueue(paced(20, reply('abcde', { chunks: 5 })));
    await (await ask(provider, 'x')).text();
    // Role, five pieces, finish reason, usage.
    expect(performance.now() - started).toBeGreaterThanOrEqual(8 * 20 - 8);
    const abort = new AbortController();
    provider.enqueue([text('a'), paced(3_600_000, text('b'))]);
    await ask(provider, 'y', abort.signal);
    abort.abort();
    await (await provider.request(1)).ended;
  });

  test('streams several tool calls at once, in pieces, each under its index', async () => {
    provider.enqueue(
      callTools(
        [
          { id: 'call-1', name: 'weather', arguments: { city: 'Paris' }, chunks: 3 },
          { id: 'call-2', name: 'time', arguments: '{}', chunks: 1 },
        ],
        { content: 'One moment.' },
      ),
    );
    const deltas = chunksOf(await (await ask(provider, 'x')).text()).flatMap(({ choices }) => choices);
    const calls = deltas.flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls.map(({ index, id, function: { name, arguments: json } }) => [index, id, name, json])).toEqual([
      [0, 'call-1', 'weather', ''],
      [1, 'call-2', 'time', ''],
      [0, undefined, undefined, '{"city'],
      [1, undefined, undefined, '{}'],
      [0, undefined, undefined, '":"Par'],
      [0, undefined, undefined, 'is"}'],
    ]);
    expect(deltas.at(-1)?.finish_reason).toBe('tool_calls');
  });

  test('keeps what it has told, and whether that was all', async () => {
    provider.enqueue(reply('all of it', { chunks: 3, usage: { prompt: 7, completion: 3 } }), [text('a part'), cutFin]);
    await (await ask(provider, 'x')).text();
    await (await ask(provider, 'y')).text();
    expect(provider.requests.map(({ sent }) => sent)).toEqual([
      { text: 'all of it', usage: expect.objectContaining({ prompt_tokens: 7 }), finishReason: 'stop', isWhole: true },
      { text: 'a part', usage: undefined, finishReason: null, isWhole: false },
    ]);
  });
});
