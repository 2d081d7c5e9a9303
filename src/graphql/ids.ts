import { decodeGlobalID, encodeGlobalID } from '@pothos/plugin-relay';
import { badInput } from '../errors.js';

/** Types whose ids a client may meet; `Budget` and `InputRequest` can be read but not fetched by their ids. */
export type IdType = 'ChatSession' | 'Message' | 'Turn' | 'ModelCall' | 'TraceEvent' | 'Budget' | 'InputRequest';

/** Ids are made in lower case; another spelling would be another opaque id of the same object. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The opaque id of a stored object. */
export const globalId = (type: IdType, id: string): string => encodeGlobalID(type, id);

/** An id taken apart; null when it is not one that this server gave out. */
export function parseGlobalId(value: string): { readonly type: string; readonly id: string } | null {
  // Longer than any id, and base64 of any length would be decoded otherwise.
  if (value.length > 128) {
    return null;
  }
  try {
    const { typename, id } = decodeGlobalID(value);
    // Base64 decoders skip what they do not know, so only the exact spelling counts.
    return uuid.test(id) && encodeGlobalID(typename, id) === value ? { type: typename, id } : null;
  } catch {
    return null;
  }
}

/**
 * The database's id behind an argument.
 *
 * @param name of the argument, for the message
 * @throws ChatError BAD_USER_INPUT when it is malformed or names an object of another type
 */
export function idOf(type: IdType, value: string, name: string): string {
  const parsed = parseGlobalId(value);
  if (parsed === null) {
    throw badInput(`${name} must be an id of type ${type}, as this server gave it out.`);
  }
  if (parsed.type !== type) {
    throw badInput(`${name} must be an id of type ${type}, but it is one of type ${parsed.type}.`);
  }
  return parsed.id;
}
