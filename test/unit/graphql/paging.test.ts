import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatError } from '../../../src/errors.js';
import { pageComplexity, pageRequest } from '../../../src/graphql/paging.js';

const int32 = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 });

describe('the size of a page', () => {
  it('is what was asked for, 100 at most, and never negative, for every Int', () => {
    fc.assert(
      fc.property(int32, fc.boolean(), (size, forward) => {
        const args = forward ? { first: size } : { last: size };
        if (size < 0) {
          expect(() => pageRequest(args)).toThrow(ChatError);
        } else {
          expect(pageRequest(args)).toEqual({ size: Math.min(size, 100), forward });
        }
      }),
    );
  });

  it('is 20 from the front when neither first nor last is given', () => {
    for (const args of [{}, { first: null, last: null }, { before: 'x' }]) {
      expect(pageRequest(args)).toEqual({ size: 20, forward: true });
    }
  });

  it('cannot be asked for from both ends', () => {
    fc.assert(
      fc.property(int32, int32, (first, last) => {
        expect(() => pageRequest({ first, last })).toThrow(/not both/);
      }),
    );
  });

  it('counts in the complexity of an operation as the number of nodes it may bring', () => {
    expect(pageComplexity({}).multiplier).toBe(20);
    expect(pageComplexity({ last: 3 }).multiplier).toBe(3);
    expect(pageComplexity({ first: 2_147_483_647 }).multiplier).toBe(100);
    expect(pageComplexity({ first: -5 }).multiplier).toBe(0);
  });
});
