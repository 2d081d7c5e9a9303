import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor, encodeSessionCursor } from '../../../src/events/cursor.js';

const turnId = '01989f3e-0000-7000-8000-0123456789ab';

describe('event cursors', () => {
  it('come back as what they were made from', () => {
    expect(decodeCursor(encodeCursor({ turnNumber: 12, turnId }, 345))).toEqual({
      turnNumber: 12,
      sequence: 345,
      mark: '0123456789ab',
    });
    expect(decodeCursor(encodeSessionCursor('01989f3e-0000-7000-8000-ba9876543210', 7))).toEqual({
      turnNumber: 7,
      sequence: 0,
      mark: 'ba9876543210',
    });
  });

  it.each([
    ['empty text', ''],
    ['plain words', 'not a cursor'],
    ['a number', '17'],
    ['a negative sequence', Buffer.from('1.-1.0123456789ab').toString('base64url')],
    ['a huge sequence', Buffer.from(`1.${'9'.repeat(30)}.0123456789ab`).toString('base64url')],
    ['a very long text', 'A'.repeat(10_000)],
  ])('are told from %s', (_what, cursor) => {
    expect(decodeCursor(cursor)).toBeNull();
  });
});
