import { storable } from '../../model/repair.js';
import { beginning } from '../context/texts.js';

const longest = 50_000;
const shortest = 500;

/** Longest result in UTF-16 units, so that one result leaves most of the model's window, in tokens, to everything else. */
export const resultLimit = (contextWindow: number): number =>
  Math.max(shortest, Math.min(longest, Math.floor(contextWindow / 2)));

/**
 * What a tool gave as the text that the model is told: texts as they are, other values as JSON; storable, and cut at the
 * limit with a note.
 *
 * @throws for a value that JSON cannot express.
 */
export function resultText(value: unknown, limit: number): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (text.trim() === '') return '(no output)';
  if (text.length <= limit) return storable(text);
  return storable(
    `${beginning(text, limit)}\n[cut: the result has ${text.length} characters, these are the first ${limit}]`,
  );
}
