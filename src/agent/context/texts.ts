const dataUrl = /data:([a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60})?(?:;[a-z0-9.=+-]{1,60}){0,4};base64,[a-z0-9+/_=-]{400,}/gi;

const count = (value: number) => value.toLocaleString('en-US');

/** The text without the bytes that stand in it as data URLs: they are no words, and would be sent again each time. */
export function withoutDataUrls(text: string): string {
  if (!text.includes(';base64,')) return text;
  return text.replace(
    dataUrl,
    (url, type: string | undefined) =>
      `[data URL of ${type ?? 'unknown type'}, ${count(url.length)} characters, left out]`,
  );
}

/** The beginning of a text, never half of a character. */
export function beginning(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The beginning of a text with a mark that there was more; the text itself when that is hardly longer. */
export function abridge(text: string, length: number): string {
  return text.length <= length + 40 ? text : `${beginning(text, length)} […]`;
}

/** Instead of the result of a tool: how long it was, and how it began. */
export function resultNote(text: string, length: number): string {
  const shown = beginning(text, length);
  return `[shortened: a result of ${count(text.length)} characters${shown.trim() === '' ? '' : `, beginning: ${shown}`}]`;
}

/** A result that has to be cut to its beginning to fit. */
export function cutResult(text: string, length: number): string {
  if (text.length <= length + 80) return text;
  return `${beginning(text, length)}\n[cut: the result has ${count(text.length)} characters, these are the first ${count(length)}]`;
}

export const plural = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
