import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ModelError, ModelPort } from '../../../src/model/port.js';
import {
  type CallOutcome,
  callModel,
  captureLog,
  codeOf,
  createTestModel,
  userRequest,
} from '../../support/model-call.js';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import {
  chunk,
  cutConnection,
  cutFin,
  delta,
  emptyBody,
  event,
  finish,
  gate,
  headers,
  html200,
  httpError,
  json200Error,
  pause,
  raw,
  reset,
  type Script,
  text,
} from '../../support/script.js';

let provider: ScriptedProvider;
let model: ModelPort;
beforeEach(async () => {
  provider = await startProvider();
  model = createTestModel(provider.url);
});
afterEach(() => provider.close());

const retryable = ({ error }: CallOutcome) => (error as ModelError).retryable;

async function play(...script: Script) {
  provider.enqueue(script);
  return callModel(model);
}

describe('a stream that is no whole reply is never a success', () => {
  test.each<[string, Script]>([
    ['a clean end without a finish reason', [text('part'), cutFin]],
    ['[DONE] without a finish reason', [text('part')]],
    [
      'usage without a finish reason',
      [text('part'), chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } })],
    ],
    ['a connection closed in the middle', [text('part'), cutConnection]],
    ['an event cut in the middle', [text('part'), raw('data: {"choices":[{"delta":{"content":"mo'), cutFin]],
    ['malformed JSON', [text('part'), event('{"choices":[}')]],
    ['an event that is no object', [text('part'), event([1, 2])]],
    ['an event that is null', [text('part'), event('null')]],
    ['choices of a wrong type', [text('part'), event({ choices: 'none' })]],
    ['a choice of a wrong type', [text('part'), event({ choices: [7] })]],
    ['a delta of a wrong type', [text('part'), event({ choices: [{ delta: 'x' }] })]],
    ['content of a wrong type', [text('part'), delta({ content: { text: 'x' } })]],
    ['a finish reason of a wrong type', [text('part'), delta({}, 7)]],
    ['an event over the limit', [text('part'), event('x'.repeat(2_000_000)), finish()]],
    ['an endless line', [text('part'), raw(`data: ${'x'.repeat(2_000_000)}`), finish()]],
  ])('%s', async (_name, script) => {
    const outcome = await play(...script);
    expect(codeOf(outcome)).toBe('PROVIDER_BAD_RESPONSE');
    expect(retryable(outcome)).toBe(true);
    expect(outcome).toMatchObject({ text: 'part', finish: null });
  });

  test('a reset in the middle keeps what was received', async () => {
    const received = gate();
    provider.enqueue([text('part'), pause(received), reset]);
    const outcome = await callModel(model, userRequest(), undefined, received.open);
    expect(codeOf(outcome)).toBe('PROVIDER_BAD_RESPONSE');
    expect(outcome).toMatchObject({ text: 'part', finish: null });
  });

  test('what came before a broken event in the same read is kept', async () => {
    const good = JSON.stringify({ choices: [{ delta: { content: 'part' } }] });
    const outcome = await play(raw(`data: ${good}\n\ndata: {{{\n\n`), finish());
    expect(codeOf(outcome)).toBe('PROVIDER_BAD_RESPONSE');
    expect(outcome.text).toBe('part');
  });

  test.each<[string, Script]>([
    ['an HTML page with status 200', [html200()]],
    ['a JSON error with status 200', [json200Error()]],
    ['an empty body', [emptyBody()]],
    ['a stream of another type', [headers({ 'content-type': 'text/html' }), text('a'), finish()]],
    ['a body that is no event stream', [headers({ 'content-type': 'text/plain' }), raw('hello'), cutFin]],
    ['a compressed body', [headers({ 'content-encoding': 'gzip' }), text('a'), finish()]],
    ['HTML that claims to be an event stream', [raw('<html>\n<body>\n\n</body>'), cutFin]],
  ])('%s', async (_name, script) => {
    const outcome = await play(...script);
    expect(codeOf(outcome)).toBe('PROVIDER_BAD_RESPONSE');
    expect(outcome.events).toEqual([]);
  });
});

describe('an error inside of the stream', () => {
  test.each<[unknown, string, boolean]>([
    [{ message: 'x', type: 'server_error', code: null }, 'PROVIDER_UNAVAILABLE', true],
    [{ message: 'x', code: 502 }, 'PROVIDER_UNAVAILABLE', true],
    [{ message: 'x', code: 429 }, 'PROVIDER_RATE_LIMITED', true],
    [{ message: 'x', code: 'rate_limit_exceeded' }, 'PROVIDER_RATE_LIMITED', true],
    [{ message: 'x', code: 'insufficient_quota' }, 'PROVIDER_RATE_LIMITED', false],
    [{ message: 'x', code: 'context_length_exceeded' }, 'CONTEXT_OVERFLOW', false],
    [{ message: 'x', type: 'invalid_request_error' }, 'PROVIDER_REFUSED', false],
    ['something broke', 'PROVIDER_UNAVAILABLE', true],
    [true, 'PROVIDER_UNAVAILABLE', true],
  ])('%j is %s', async (error, code, again) => {
    const outcome = await play(text('part'), event({ error }), finish());
    expect([codeOf(outcome), retryable(outcome), outcome.text]).toEqual([code, again, 'part']);
  });

  test('counts also as a named event, with or without JSON', async () => {
    expect(codeOf(await play(raw('event: error\ndata: {"code":"rate_limit_exceeded"}\n\n')))).toBe(
      'PROVIDER_RATE_LIMITED',
    );
    expect(codeOf(await play(raw('event: error\ndata: {"error":{"code":401}}\n\n')))).toBe('PROVIDER_AUTH');
    expect(codeOf(await play(raw('event: error\ndata: out of memory\n\n')))).toBe('PROVIDER_UNAVAILABLE');
  });

  test('and as a finish reason', async () => {
    expect(codeOf(await play(text('part'), finish('error')))).toBe('PROVIDER_UNAVAILABLE');
  });
});

describe('an answer that is no 200', () => {
  const body = (fields: object) => ({ error: { message: 'scripted', type: null, param: null, code: null, ...fields } });

  test.each<[number, unknown, string, boolean]>([
    [400, body({}), 'PROVIDER_REFUSED', false],
    [400, body({ code: 'context_length_exceeded' }), 'CONTEXT_OVERFLOW', false],
    [400, body({ message: "This model's maximum context length is 8192 tokens" }), 'CONTEXT_OVERFLOW', false],
    [400, 'not JSON', 'PROVIDER_REFUSED', false],
    [401, body({ code: 'invalid_api_key' }), 'PROVIDER_AUTH', false],
    [403, body({}), 'PROVIDER_AUTH', false],
    [404, body({ code: 'model_not_found' }), 'PROVIDER_REFUSED', false],
    [408, body({}), 'PROVIDER_UNAVAILABLE', true],
    [409, body({}), 'PROVIDER_UNAVAILABLE', true],
    [413, body({}), 'PROVIDER_REFUSED', false],
    [422, body({}), 'PROVIDER_REFUSED', false],
    [429, body({ code: 'rate_limit_exceeded' }), 'PROVIDER_RATE_LIMITED', true],
    [429, body({}), 'PROVIDER_RATE_LIMITED', true],
    [429, body({ code: 'insufficient_quota' }), 'PROVIDER_RATE_LIMITED', false],
    [429, body({ type: 'insufficient_quota' }), 'PROVIDER_RATE_LIMITED', false],
    [500, body({}), 'PROVIDER_UNAVAILABLE', true],
    [502, '<html>bad gateway</html>', 'PROVIDER_UNAVAILABLE', true],
    [503, '', 'PROVIDER_UNAVAILABLE', true],
    [529, body({}), 'PROVIDER_UNAVAILABLE', true],
  ])('%i %j is %s', async (status, answer, code, again) => {
    const outcome = await play(httpError(status, answer));
    expect([codeOf(outcome), retryable(outcome)]).toEqual([code, again]);
    expect((outcome.error as ModelError).facts.status).toBe(status);
    expect(outcome.events).toEqual([]);
    // Retries are the engine's, with a ledger row each.
    expect(provider.requests).toHaveLength(1);
  });

  test.each<[Record<string, string>, number | null]>([
    [{ 'retry-after': '1' }, 1_000],
    [{ 'retry-after': '90' }, 90_000],
    [{ 'retry-after-ms': '150' }, 150],
    [{ 'retry-after': 'garbage' }, null],
    [{ 'retry-after': new Date(0).toUTCString() }, 0],
    [{}, null],
  ])('tells how long to wait: %j', async (extraHeaders, expected) => {
    const outcome = await play(httpError(429, undefined, extraHeaders));
    expect((outcome.error as ModelError).retryAfterMs).toBe(expected);
  });

  test('a huge error body is read only in part', async () => {
    const outcome = await play(httpError(500, 'x'.repeat(5_000_000)));
    expect(codeOf(outcome)).toBe('PROVIDER_UNAVAILABLE');
  });

  test('a redirect is not followed, so the key goes nowhere else', async () => {
    const elsewhere = await startProvider();
    const captured = captureLog();
    model = createTestModel(provider.url, { log: captured.log });
    for (const status of [301, 302, 303, 307, 308]) {
      const outcome = await play(httpError(status, '', { location: `${elsewhere.url}/chat/completions` }));
      expect([codeOf(outcome), retryable(outcome)]).toEqual(['PROVIDER_REFUSED', false]);
    }
    expect(elsewhere.requests).toHaveLength(0);
    expect(captured.text()).toContain('OPENAI_BASE_URL');
    expect(captured.text()).not.toContain(elsewhere.url);
    await elsewhere.close();
  });
});

describe('a provider that cannot be reached', () => {
  test('is unavailable when nothing listens', async () => {
    await provider.close();
    const outcome = await callModel(model);
    expect([codeOf(outcome), retryable(outcome)]).toEqual(['PROVIDER_UNAVAILABLE', true]);
    expect((outcome.error as ModelError).facts).toEqual({ systemCode: 'ECONNREFUSED' });
    provider = await startProvider();
  });

  test('is unavailable when it hangs up before any answer', async () => {
    for (const end of [reset, cutConnection]) {
      expect(codeOf(await play(end))).toBe('PROVIDER_UNAVAILABLE');
    }
  });

  test('is no event stream when it does not speak HTTP', async () => {
    const server = http.createServer();
    server.on('connection', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const outcome = await callModel(createTestModel(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
    expect(codeOf(outcome)).toBe('PROVIDER_UNAVAILABLE');
    server.close();
  });
});

describe('secrets', () => {
  const key = 'sk-canary-0123456789abcdef';
  const prompt = 'canary prompt: the cellar code is 4711';
  const words = `provider canary: bad key ${key} at host canary.internal`;

  test.each<[string, Script]>([
    ['an auth error', [httpError(401, { error: { message: words, type: words, param: words, code: words } })]],
    ['a server error', [httpError(500, words, { 'x-request-id': 'r', 'retry-after': words })]],
    ['a rate limit', [httpError(429, { error: { message: words, code: words } })]],
    ['an error event', [event({ error: { message: words, code: words, type: words } })]],
    ['malformed JSON', [event(`{"choices": ${words}`)]],
    ['a wrong type', [event({ choices: words })]],
    ['an unknown finish reason of a wrong type', [delta({}, { words })]],
    ['HTML', [html200(words)]],
    ['a JSON error', [json200Error(words)]],
    ['a cut', [text(words), cutFin]],
    ['a reset', [reset]],
  ])('of request and provider stay out of error and log after %s', async (_name, script) => {
    const spies = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => vi.spyOn(console, name));
    const captured = captureLog();
    provider.enqueue(script);
    const outcome = await callModel(
      createTestModel(provider.url, { apiKey: key, log: captured.log }),
      userRequest(prompt),
    );
    const error = outcome.error as ModelError;
    expect(error.code).toMatch(/^PROVIDER_/);
    captured.log.error({ err: error, ...error.facts }, 'as the engine logs it');
    const told = [captured.text(), error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n');
    for (const secret of [key, 'canary', '4711', provider.url]) expect(told).not.toContain(secret);
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  test('a key that no header can carry is refused at once, without quoting it', () => {
    for (const apiKey of [`${key}\n`, `${key} x`, 'schlüssel']) {
      let told = '';
      try {
        createTestModel(provider.url, { apiKey });
      } catch (error) {
        told = String(error);
      }
      expect(told).toContain('OPENAI_API_KEY');
      expect(told).not.toContain(apiKey);
    }
  });
});
