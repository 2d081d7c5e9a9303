import { storable } from '../../model/repair.js';

/** Deeper arguments than any tool wants: reading them back might exhaust the stack. */
const deepest = 60;

class TooDeep extends Error {}

/** The value with every text in it as the database can store it. */
function storableValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepest) throw new TooDeep();
  if (Array.isArray(value)) return value.map((item) => storableValue(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storable(key), storableValue(item, depth + 1)]),
  );
}

/** The value that the model's JSON text stands for; the text itself when it is no JSON, or JSON that nobody could want. */
export function parseArguments(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return storableValue(JSON.parse(text), 0);
  } catch {
    return text;
  }
}

/** Arguments as a tool or a provider takes them; null for anything but an object. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}
