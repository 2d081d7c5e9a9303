import type { KeyType, PagedList } from '../db/queries/pages.js';
import { badInput } from '../errors.js';

/** The form in which a value of a list's key travels inside a cursor. */
const forms: Record<KeyType, (text: string) => boolean> = {
  // Positions are Postgres integers.
  integer: (text) => /^[1-9]\d{0,9}$/.test(text) && Number(text) <= 2_147_483_647,
  // Milliseconds since 1970, up to the year 9999.
  instant: (text) => /^(?:0|[1-9]\d{0,14})$/.test(text) && Number(text) <= 253_402_300_799_999,
  decimal: (text) => /^\d{1,12}(?:\.\d{1,12})?$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
};

/**
 * What makes the cursors of a list: its name tells them from those of other lists and orders, its key gives their
 * values. A cursor holds a position, not an object, so it stays good when the object is deleted, and it reveals
 * nothing: what a page shows is decided by the list it is used on.
 */
export type CursorFormat = Pick<PagedList, 'name' | 'key'>;

export const encodeCursor = (format: CursorFormat, key: readonly string[]): string =>
  Buffer.from([format.name, ...key].join(' ')).toString('base64url');

/**
 * The key values inside a cursor.
 *
 * @param argument the argument it came in, for the message
 * @throws ChatError BAD_USER_INPUT for everything that this list did not give out in this order
 */
export function decodeCursor(format: CursorFormat, cursor: string, argument: 'after' | 'before'): readonly string[] {
  const [name, ...key] = cursor.length > 256 ? [] : Buffer.from(cursor, 'base64url').toString().split(' ');
  const known =
    name === format.name &&
    key.length === format.key.length &&
    format.key.every(({ type }, index) => forms[type](key[index] ?? '')) &&
    // Base64 decoders skip what they do not know, so only the exact spelling counts.
    encodeCursor(format, key) === cursor;
  if (!known) {
    throw badInput(`${argument} must be a cursor that this list gave out, in the same order.`);
  }
  return key;
}
