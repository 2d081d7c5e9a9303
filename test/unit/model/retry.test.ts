import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ModelError } from '../../../src/model/port.js';
import { retryDelayMs, wait } from '../../../src/model/retry.js';
import { createManualTimers } from '../../support/timers.js';

const unavailable = (retryAfterMs: number | null = null) =>
  new ModelError('PROVIDER_UNAVAILABLE', true, {}, retryAfterMs);

describe('the wait before another attempt', () => {
  test('doubles up to a limit, with chance', () => {
    expect([1, 2, 3, 4, 5, 6, 50].map((attempt) => retryDelayMs(unavailable(), attempt, 0))).toEqual([
      250, 500, 1000, 2000, 4000, 4000, 4000,
    ]);
    expect([1, 2, 6].map((attempt) => retryDelayMs(unavailable(), attempt, 0.999999))).toEqual([500, 1000, 8000]);
  });

  test('keeps to what the provider asks for, up to ten seconds', () => {
    expect(retryDelayMs(unavailable(1_000), 1, 0)).toBe(1_000);
    expect(retryDelayMs(unavailable(10_000), 1, 0.9)).toBe(10_000);
    expect(retryDelayMs(unavailable(10_001), 1, 0)).toBeNull();
    expect(retryDelayMs(unavailable(90_000), 1, 0)).toBeNull();
  });

  test('is refused for what another attempt cannot help', () => {
    expect(retryDelayMs(new ModelError('PROVIDER_AUTH', false), 1, 0)).toBeNull();
    expect(retryDelayMs(new ModelError('PROVIDER_RATE_LIMITED', false, {}, 100), 1, 0)).toBeNull();
  });

  test('is always between nothing and ten seconds, and never shorter than asked for', () => {
    const asked = fc.option(fc.nat({ max: 100_000 }), { nil: null });
    fc.assert(
      fc.property(
        asked,
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (ms, n, r) => {
          const delay = retryDelayMs(unavailable(ms), n, r);
          if (delay === null) return (ms ?? 0) > 10_000;
          return delay >= Math.max(250, ms ?? 0) && delay <= 10_000 && Number.isInteger(delay);
        },
      ),
    );
  });
});

describe('waiting', () => {
  test('ends when the time is over and leaves no listener', async () => {
    const timers = createManualTimers();
    const abort = new AbortController();
    const waiting = wait(1_000, abort.signal, timers);
    timers.advance(1_000);
    await waiting;
    abort.abort();
  });

  test('ends at once with the reason when it is cancelled', async () => {
    const timers = createManualTimers();
    const abort = new AbortController();
    const reason = new Error('stopped');
    const waiting = wait(60_000, abort.signal, timers);
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(timers.pending).toBe(0);
    await expect(wait(1, abort.signal, timers)).rejects.toBe(reason);
  });

  test('is cancelled within 200 ms of real time', async () => {
    const abort = new AbortController();
    const waiting = wait(90_000, abort.signal);
    const before = performance.now();
    abort.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    expect(performance.now() - before).toBeLessThan(200);
  });
});
