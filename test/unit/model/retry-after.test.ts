import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../../src/model/retry-after.js';

const now = Date.parse('2026-11-30T12:00:00Z');
const parse = (headers: Record<string, string>) => parseRetryAfter(new Headers(headers), now);

describe('what a provider asks to wait', () => {
  test.each([
    ['1', 1_000],
    ['90', 90_000],
    ['0.5', 500],
    ['0', 0],
    ['Mon, 30 Nov 2026 12:00:30 GMT', 30_000],
    ['Mon, 30 Nov 2026 11:00:00 GMT', 0],
    ['999999999', 86_400_000],
  ])('%s', (value, expected) => {
    expect(parse({ 'retry-after': value })).toBe(expected);
  });

  test.each(['', 'soon', '-5', '1e9', 'NaN', '0x10', '12 34', '2026-11-30', 'Infinity', '<b>1</b>'])(
    'ignores %j',
    (value) => {
      expect(parse({ 'retry-after': value })).toBeNull();
    },
  );

  test('prefers milliseconds, and nothing at all when there is nothing', () => {
    expect(parse({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
    expect(parse({ 'retry-after-ms': 'x', 'retry-after': '9' })).toBe(9_000);
    expect(parse({})).toBeNull();
  });
});
