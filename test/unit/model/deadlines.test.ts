import { describe, expect, test } from 'vitest';
import { startDeadlines } from '../../../src/model/deadlines.js';
import { createManualTimers } from '../../support/timers.js';

function start(idleMs: number, totalMs: number) {
  const timers = createManualTimers();
  const expired: string[] = [];
  const deadlines = startDeadlines({ idleMs, totalMs }, timers, (deadline) => expired.push(deadline));
  return { timers, expired, deadlines };
}

describe('the deadlines of a call', () => {
  test('idle passes after silence only', () => {
    const { timers, expired, deadlines } = start(100, 10_000);
    for (let at = 0; at < 20; at += 1) {
      timers.advance(99);
      deadlines.touch();
    }
    expect(expired).toEqual([]);
    timers.advance(99);
    expect(expired).toEqual([]);
    timers.advance(1);
    expect(expired).toEqual(['idle']);
    expect(deadlines.expired).toBe('idle');
    expect(timers.pending).toBe(0);
  });

  test('total passes however lively the provider is', () => {
    const { timers, expired, deadlines } = start(100, 1_000);
    for (let at = 0; at < 100; at += 1) {
      timers.advance(50);
      deadlines.touch();
    }
    expect(expired).toEqual(['total']);
  });

  test('no idle time passes while the reader of the events takes its own', () => {
    const { timers, expired, deadlines } = start(100, 10_000);
    deadlines.hold();
    timers.advance(5_000);
    expect(expired).toEqual([]);
    deadlines.touch();
    timers.advance(99);
    expect(expired).toEqual([]);
    timers.advance(101);
    expect(expired).toEqual(['idle']);
  });

  test('the idle time can be shortened, never lengthened', () => {
    const { timers, expired, deadlines } = start(1_000, 10_000);
    timers.advance(100);
    deadlines.shortenIdle(5_000);
    deadlines.touch();
    deadlines.shortenIdle(200);
    timers.advance(199);
    expect(expired).toEqual([]);
    timers.advance(1);
    expect(expired).toEqual(['idle']);
  });

  test('nothing is left after clear', () => {
    const { timers, expired, deadlines } = start(100, 1_000);
    deadlines.clear();
    timers.advance(10_000);
    expect(expired).toEqual([]);
    expect(timers.pending).toBe(0);
  });
});
