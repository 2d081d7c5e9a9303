import { expect, it } from 'vitest';
import { backoffMs } from '../../../../src/agent/mcp/backoff.js';

it('waits longer after each failure, up to half a minute', () => {
  expect([1, 2, 3, 8, 1_000_000].map((failures) => backoffMs(failures, 0))).toEqual([125, 250, 500, 15_000, 15_000]);
  expect(backoffMs(1_000_000, 0.999_999)).toBe(30_000);
});
