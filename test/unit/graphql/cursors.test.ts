import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownedSessions } from '../../../src/db/queries/owned-sessions.js';
import { messagesList, modelCallsList, turnsList } from '../../../src/db/queries/session-lists.js';
import { ChatError } from '../../../src/errors.js';
import { decodeCursor, encodeCursor } from '../../../src/graphql/cursors.js';

const principal = { owner: 'ada', tenant: '' };
const byUpdate = ownedSessions(principal, {}, 'UPDATED_AT_DESC');
const byCost = ownedSessions(principal, {}, 'COST_DESC');
const encode = (text: string) => Buffer.from(text).toString('base64url');

const integer = fc.integer({ min: 1, max: 2_147_483_647 }).map(String);
const instant = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(String);
const decimal = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 999_999_999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(12, '0')}`);

describe('cursors', () => {
  it('lead back to the position they were made from', () => {
    fc.assert(
      fc.property(integer, instant, decimal, fc.uuid(), (position, at, cost, id) => {
        expect(decodeCursor(messagesList, encodeCursor(messagesList, [position]), 'after')).toEqual([position]);
        expect(decodeCursor(modelCallsList, encodeCursor(modelCallsList, [at, id]), 'after')).toEqual([at, id]);
        expect(decodeCursor(byCost, encodeCursor(byCost, [cost, id]), 'before')).toEqual([cost, id]);
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['free text', 'next page please'],
    ['a cursor of another list', encodeCursor(turnsList, ['3'])],
    ['a position that is no number', encode('messages x')],
    ['a negative position', encode('messages -1')],
    ['position 0', encode('messages 0')],
    ['a position beyond the column', encode('messages 2147483648')],
    ['two positions', encode('messages 1 2')],
    ['no position', encode('messages')],
    ['padded base64', `${encode('messages 3')}==`],
    ['ordinary base64 with garbage', `${encode('messages 3')}!!`],
    ['SQL', encode('messages 1;DROP')],
    ['a megabyte', 'A'.repeat(1_048_576)],
  ])('refuse %s', (_what, cursor) => {
    expect(() => decodeCursor(messagesList, cursor, 'after')).toThrow(ChatError);
    expect(() => decodeCursor(messagesList, cursor, 'after')).toThrow(/^after must be a cursor/);
  });

  it('are good for the order they came from only', () => {
    const cursor = encodeCursor(byUpdate, ['1764465600000', '0190a000-0000-7000-8000-000000000001']);
    expect(() => decodeCursor(byCost, cursor, 'before')).toThrow(/^before must be a cursor/);
    expect(() => decodeCursor(ownedSessions(principal, {}, 'UPDATED_AT_ASC'), cursor, 'before')).toThrow(ChatError);
  });

  it('refuse whatever else comes, without any other error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' }).map(encode)), (cursor) => {
        expect(() => decodeCursor(byCost, cursor, 'after')).toThrow(ChatError);
      }),
    );
  });
});
