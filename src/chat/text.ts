import { badInput } from '../errors.js';

/** Refuses what Postgres cannot store or would silently change: NUL, and surrogates without their other half. */
export function checkStorable(name: string, text: string): void {
  if (text.includes('\0')) {
    throw badInput(`${name} contains the character U+0000, which cannot be stored: remove it.`);
  }
  if (!text.isWellFormed()) {
    throw badInput(`${name} contains half of a surrogate pair, which is no character: send well-formed Unicode.`);
  }
}

/** The same for every string and key of a JSON value; the JSON scalar has bounded its depth. */
export function checkStorableJson(name: string, value: unknown): void {
  if (typeof value === 'string') {
    checkStorable(name, value);
  } else if (value !== null && typeof value === 'object') {
    for (const [key, member] of Object.entries(value)) {
      checkStorable(name, key);
      checkStorableJson(name, member);
    }
  }
}

/** Checks a text that must say something: storable, not blank, and at most `maxBytes` of UTF-8. */
export function checkText(name: string, text: string, maxBytes: number): void {
  if (text.trim() === '') throw badInput(`${name} is empty: write something.`);
  checkLength(name, text, maxBytes);
  checkStorable(name, text);
}

export function checkLength(name: string, text: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    throw badInput(`${name} has ${bytes} bytes of UTF-8 and the limit is ${maxBytes}: shorten it.`, {
      limit: maxBytes,
    });
  }
}

const longestClientId = 255;
// Ids are compared byte by byte and end up in logs, so invisible characters are refused.
const controlCharacters = /\p{Cc}/u;

/** Checks an id that the client has made up. */
export function checkClientId(name: string, id: string): void {
  if (id.trim() === '') throw badInput(`${name} is empty: leave it out or give a unique id, for example a UUID.`);
  if (id.length > longestClientId) {
    throw badInput(`${name} has ${id.length} characters and the limit is ${longestClientId}: use a UUID.`);
  }
  checkStorable(name, id);
  if (controlCharacters.test(id)) throw badInput(`${name} contains control characters: use a UUID.`);
}
