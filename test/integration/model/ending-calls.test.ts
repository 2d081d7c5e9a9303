import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ModelError, ModelEvent, ModelPort } from '../../../src/model/port.js';
import { callModel, codeOf, createTestModel, userRequest } from '../../support/model-call.js';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import {
  bytewise,
  delta,
  finish,
  gate,
  headers,
  pause,
  ping,
  raw,
  reply,
  type Script,
  silence,
  text,
  usage,
} from '../../support/script.js';
import { createManualTimers } from '../../support/timers.js';

let provider: ScriptedProvider;
beforeEach(async () => {
  provider = await startProvider();
});
afterEach(() => provider.close());

const start = (model: ModelPort, signal = new AbortController().signal): AsyncIterator<ModelEvent> =>
  model.stream(userRequest(), signal)[Symbol.asyncIterator]();

/** Milliseconds until the provider sees that the client has gone. */
async function timeToHangUp(): Promise<number> {
  const before = performance.now();
  await (await provider.request(0)).hungUp;
  return performance.now() - before;
}

describe('a provider that falls silent', () => {
  test.each<[string, Script, string]>([
    ['before its headers', [], ''],
    ['after its headers', [headers()], ''],
    ['in the middle of an error body', [headers({ 'content-type': 'application/json' }, 500), raw('{"error"')], ''],
    ['after two chunks', [text('ab', { chunks: 2 })], 'ab'],
    ['but for pings', [text('a'), ping(), ping()], 'a'],
    ['in the middle of an event', [text('a'), raw('data: {"choices"')], 'a'],
  ])('%s is given up after the idle time, and its connection closed', async (_name, script, received) => {
    const timers = createManualTimers();
    const model = createTestModel(provider.url, { idleTimeoutMs: 1_000, totalTimeoutMs: 60_000, timers });
    const last = gate();
    provider.enqueue([...script, pause(last), silence()]);
    let sofar = '';
    const arrived = gate();
    const call = callModel(model, userRequest(), undefined, (event) => {
      if (event.type === 'text') sofar += event.text;
      if (sofar === received) arrived.open();
    });
    await last.reached;
    if (received !== '') await arrived.opened;
    last.open();
    // The event has been handed out; the reader is back at waiting once this turn of the loop is over.
    await new Promise((resolve) => setImmediate(resolve));
    timers.advance(999);
    timers.advance(1_001);
    const outcome = await call;
    expect([codeOf(outcome), outcome.text]).toEqual(['PROVIDER_TIMEOUT', received]);
    expect((outcome.error as ModelError).retryable).toBe(true);
    expect((outcome.error as ModelError).facts).toEqual({ deadline: 'idle' });
    expect(await timeToHangUp()).toBeLessThan(1_000);
    expect(timers.pending).toBe(0);
  });

  test('is not taken for alive because of its pings', async () => {
    const model = createTestModel(provider.url, { idleTimeoutMs: 300 });
    const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    provider.enqueue([text('a'), Array.from({ length: 20 }, (_, at) => [pause(later(50 * at)), ping()]), reply('b')]);
    const outcome = await callModel(model);
    expect([codeOf(outcome), outcome.text]).toEqual(['PROVIDER_TIMEOUT', 'a']);
  });

  test('is given up in real time, too', async () => {
    const model = createTestModel(provider.url, { idleTimeoutMs: 150 });
    provider.enqueue([text('a'), silence()]);
    const before = performance.now();
    const outcome = await callModel(model);
    const took = performance.now() - before;
    expect(codeOf(outcome)).toBe('PROVIDER_TIMEOUT');
    expect(took).toBeGreaterThan(140);
    expect(took).toBeLessThan(4_000);
  });
});

describe('a provider that goes on and on', () => {
  test('is stopped after the total time, however lively it is', async () => {
    const timers = createManualTimers();
    const model = createTestModel(provider.url, { idleTimeoutMs: 1_000, totalTimeoutMs: 10_000, timers });
    const gates = Array.from({ length: 20 }, gate);
    provider.enqueue(gates.flatMap((step) => [pause(step), text('tick ')]));
    const stream = start(model);
    let chunks = 0;
    const read = async () => {
      for (;;) {
        const next = stream.next();
        gates[chunks]?.open();
        await next;
        chunks += 1;
        timers.advance(900);
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT', facts: { deadline: 'total' } });
    expect(chunks).toBe(12);
    expect(await timeToHangUp()).toBeLessThan(1_000);
  });

  test('is not blamed for the time that the reader of its events takes', async () => {
    const timers = createManualTimers();
    const model = createTestModel(provider.url, { idleTimeoutMs: 1_000, totalTimeoutMs: 60_000, timers });
    const between = gate();
    provider.enqueue([text('a'), pause(between), reply('b')]);
    const stream = start(model);
    expect((await stream.next()).value).toEqual({ type: 'text', text: 'a' });
    timers.advance(20_000);
    const next = stream.next();
    between.open();
    expect((await next).value).toEqual({ type: 'text', text: 'b' });
    await stream.return?.();
  });

  test('after its finish reason only has a few seconds left for the usage', async () => {
    const timers = createManualTimers();
    const model = createTestModel(provider.url, { idleTimeoutMs: 600_000, totalTimeoutMs: 6_000_000, timers });
    const received = gate();
    provider.enqueue([delta({ content: 'whole' }, 'stop'), pause(received), silence()]);
    const call = callModel(model, userRequest(), undefined, received.open);
    await received.opened;
    await new Promise((resolve) => setImmediate(resolve));
    timers.advance(5_000);
    expect(await call).toMatchObject({ error: null, text: 'whole', finish: 'stop', usage: null });
    expect(await timeToHangUp()).toBeLessThan(1_000);
  });

  test('after [DONE] is not waited for, and its connection is closed', async () => {
    provider.enqueue([
      text('whole'),
      finish(),
      usage({ prompt: 1, completion: 1 }),
      raw('data: [DONE]\n\n'),
      silence(),
    ]);
    const before = performance.now();
    expect(await callModel(createTestModel(provider.url))).toMatchObject({ error: null, text: 'whole' });
    expect(performance.now() - before).toBeLessThan(4_000);
    expect(await timeToHangUp()).toBeLessThan(2_000);
  });
});

describe('a caller that stops', () => {
  const reason = new Error('stopped by the user');

  test.each<[string, Script]>([
    ['while it waits for headers', [silence()]],
    ['while it waits for the first chunk', [headers(), silence()]],
    ['while it waits for the next chunk', [text('a'), silence()]],
    ['after the finish reason', [text('a'), finish(), silence()]],
  ])('%s reaches the provider within a second and gets its own reason', async (_name, script) => {
    const abort = new AbortController();
    const reached = gate();
    provider.enqueue([...script.slice(0, -1), pause(reached), ...script.slice(-1)]);
    const call = callModel(createTestModel(provider.url), userRequest(), abort.signal);
    await reached.reached;
    abort.abort(reason);
    const hangUp = timeToHangUp();
    expect((await call).error).toBe(reason);
    expect(await hangUp).toBeLessThan(1_000);
  });

  test('gets no event that had already arrived', async () => {
    const abort = new AbortController();
    provider.enqueue([raw(['thinking', 'text'].map(twoKinds).join('')), silence()]);
    const outcome = await callModel(createTestModel(provider.url), userRequest(), abort.signal, () =>
      abort.abort(reason),
    );
    expect(outcome.events).toEqual([{ type: 'thinking', text: 'a' }]);
    expect(outcome.error).toBe(reason);
  });

  test('before the start sends no request', async () => {
    const outcome = await callModel(createTestModel(provider.url), userRequest(), AbortSignal.abort(reason));
    expect(outcome.error).toBe(reason);
    expect(provider.requests).toHaveLength(0);
  });

  test('by leaving its loop closes the connection', async () => {
    provider.enqueue([text('a'), silence()]);
    for await (const _event of createTestModel(provider.url).stream(userRequest(), new AbortController().signal)) break;
    expect(await timeToHangUp()).toBeLessThan(1_000);
  });

  test('at any moment leaves no unhandled rejection behind', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    process.on('uncaughtException', note);
    const model = createTestModel(provider.url);
    // The pings give the client a turn between any two chunks.
    provider.onRequest(() => [Array.from({ length: 10 }, () => [text('word '), bytewise(ping())]), finish()]);
    let stopped = 0;
    for (let round = 0; round < 200; round += 1) {
      const abort = new AbortController();
      let seen = 0;
      // Before the request, in its first turns of the event loop, and in the middle of the stream.
      const call = callModel(model, userRequest(), abort.signal, () => {
        seen += 1;
        if (round % 4 === 3 && seen === 1 + (round % 5)) abort.abort(reason);
      });
      if (round % 4 < 3) {
        for (let turn = 0; turn < round % 7; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        abort.abort(reason);
      }
      const { error } = await call;
      if (error !== null) {
        expect(error).toBe(reason);
        stopped += 1;
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
    expect(stopped).toBeGreaterThan(100);
    expect(unhandled).toEqual([]);
  });
});

const twoKinds = (kind: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { [kind === 'text' ? 'content' : 'reasoning']: 'a' } }] })}\n\n`;
