import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatError } from '../../../src/errors.js';
import { globalId, idOf, parseGlobalId } from '../../../src/graphql/ids.js';

const uuid = '0190a000-0000-7000-8000-00000000000b';
const encode = (text: string) => Buffer.from(text).toString('base64');

const refusal = (action: () => unknown): ChatError => {
  try {
    action();
  } catch (error) {
    if (error instanceof ChatError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
};

describe('global ids', () => {
  it('lead back to the type and the id they were made from', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('ChatSession', 'Message', 'Turn', 'ModelCall', 'TraceEvent'),
        fc.uuid(),
        (type, id) => {
          expect(parseGlobalId(globalId(type, id))).toEqual({ type, id });
          expect(idOf(type, globalId(type, id), 'id')).toBe(id);
        },
      ),
    );
  });

  it.each([
    ['nothing', ''],
    ['a bare UUID', uuid],
    ['no base64', 'not an id!'],
    ['base64 of something else', encode('hello')],
    ['a type without an id', encode('ChatSession:')],
    ['an id that is no UUID', encode('ChatSession:42')],
    ['SQL instead of a UUID', encode("ChatSession:' OR 1=1 --")],
    ['an upper-case UUID, which would be a second id of one object', encode(`ChatSession:${uuid.toUpperCase()}`)],
    ['something behind the UUID', encode(`ChatSession:${uuid}:1`)],
    ['a NUL', encode(`ChatSession:${uuid}\0`)],
    ['a line break behind it', `${encode(`ChatSession:${uuid}`)}\n`],
    ['a blank inside', encode(`ChatSession:${uuid}`).replace(/^.{8}/, '$& ')],
    ['a megabyte', 'A'.repeat(1_048_576)],
  ])('refuse %s with a sentence that names the argument', (_what, value) => {
    const error = refusal(() => idOf('ChatSession', value, 'sessionId'));
    expect(error.code).toBe('BAD_USER_INPUT');
    expect(error.message).toBe('sessionId must be an id of type ChatSession, as this server gave it out.');
  });

  it('refuse another spelling of the same bytes, which would be a second id of one object', () => {
    const id = globalId('Turn', uuid);
    expect(id).toMatch(/[^=]=$/);
    for (const other of [
      id.replace('=', ''),
      id.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`),
    ]) {
      expect(Buffer.from(other, 'base64')).toEqual(Buffer.from(id, 'base64'));
      expect(() => idOf('Turn', other, 'turnId')).toThrow(ChatError);
    }
  });

  it('refuse an id of another type and say which type it has', () => {
    const error = refusal(() => idOf('ChatSession', globalId('Turn', uuid), 'sessionId'));
    expect(error.code).toBe('BAD_USER_INPUT');
    expect(error.message).toBe('sessionId must be an id of type ChatSession, but it is one of type Turn.');
  });

  it('refuse whatever else comes, without any other error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' }).map(encode)), (value) => {
        expect(parseGlobalId(value)).toBeNull();
      }),
    );
  });
});
