import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTextJoiner } from '../../../src/model/repair.js';

function join(pieces: readonly string[]): string[] {
  const joiner = createTextJoiner();
  return [...pieces.map((piece) => joiner.push(piece)), joiner.end()];
}

describe('joining streamed text', () => {
  test('puts a pair together that was cut between two pieces', () => {
    expect(join(['a\ud83d', '\ude00b'])).toEqual(['a', '😀b', '']);
    expect(join(['\ud83d', '', '\ude00'])).toEqual(['', '', '😀', '']);
  });

  test('repairs halves that have no other half, and NUL', () => {
    expect(join(['\ud83d', 'x']).join('')).toBe('\ufffdx');
    expect(join(['\ude00'])).toEqual(['\ufffd', '']);
    expect(join(['a\ud83d'])).toEqual(['a', '\ufffd']);
    expect(join(['a\0b'])).toEqual(['a\ufffdb', '']);
  });

  test('every piece can be stored, and together they are the text', () => {
    const anyText = fc.string({ unit: fc.constantFrom('a', '\0', '\ud83d', '\ude00', '漢', '😀') });
    fc.assert(
      fc.property(fc.array(anyText), (pieces) => {
        const joined = join(pieces);
        for (const piece of joined) expect(piece.isWellFormed() && !piece.includes('\0')).toBe(true);
        expect(joined.join('')).toBe(pieces.join('').replaceAll('\0', '\ufffd').toWellFormed());
      }),
    );
  });
});
