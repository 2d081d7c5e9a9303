import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputMeter } from '../../../src/agent/output-meter.js';
import { countTokens } from '../../../src/model/tokens.js';

/** What is taken of pieces that come one after the other, until one is cut. */
function takeAll(most: number, pieces: readonly string[]): string {
  const meter = new OutputMeter(most);
  let taken = '';
  for (const piece of pieces) {
    const part = meter.take(piece, () => taken);
    taken += part;
    if (part !== piece) break;
  }
  return taken;
}

describe('output that is metered', () => {
  it('is taken whole as long as it fits, however small its pieces are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 80 }), (pieces) => {
        const text = pieces.join('');
        expect(takeAll(countTokens(text), pieces)).toBe(text);
      }),
    );
  });

  it('is cut where it comes to more, also inside of a piece', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 0, max: 200 }),
        (pieces, most) => {
          const text = pieces.join('');
          const taken = takeAll(most, pieces);
          expect(text.startsWith(taken)).toBe(true);
          expect(countTokens(taken)).toBeLessThanOrEqual(Math.ceil(most * 1.02));
          if (taken.length < text.length) expect(countTokens(text)).toBeGreaterThan(most);
        },
      ),
    );
  });

  it('is not cut where nothing limits it', () => {
    const text = 'word '.repeat(100_000);
    expect(takeAll(Number.POSITIVE_INFINITY, [text, text])).toBe(text + text);
  });
});
