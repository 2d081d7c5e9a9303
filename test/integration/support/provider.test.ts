import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import {
  bytewise,
  cutConnection,
  cutFin,
  event,
  finish,
  gate,
  httpError,
  pause,
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
});
