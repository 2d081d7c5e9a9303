import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { atTime } from '../../../src/transport/at-time.js';

const day = 86_400_000;

describe('something that is to happen at a time', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('happens then, also when that is further away than timers reach', () => {
    let happened = 0;
    atTime(Date.now() + 60 * day, () => (happened += 1), Date.now);
    vi.advanceTimersByTime(60 * day - 1);
    expect(happened).toBe(0);
    vi.advanceTimersByTime(1);
    expect(happened).toBe(1);
  });

  it('happens at once when the time has passed', () => {
    let happened = 0;
    atTime(Date.now() - 1, () => (happened += 1), Date.now);
    vi.advanceTimersByTime(0);
    expect(happened).toBe(1);
  });

  it('does not happen any more when it is cancelled, at any stage', () => {
    let happened = 0;
    const cancel = atTime(Date.now() + 60 * day, () => (happened += 1), Date.now);
    vi.advanceTimersByTime(40 * day);
    cancel();
    vi.advanceTimersByTime(40 * day);
    expect(happened).toBe(0);
  });
});
