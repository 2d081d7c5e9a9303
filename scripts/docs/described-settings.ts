import { z } from 'zod';
import { settings } from '../../src/settings.js';

/** A setting as the documents show it. */
export interface DescribedSetting {
  readonly name: string;
  readonly meaning: string;
  /** As it would stand in the environment; null when the setting has none. */
  readonly fallback: string | null;
  /** What values are taken, in a few words. */
  readonly allowed: string;
}

interface Bounds {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

const number = (value: number) => value.toLocaleString('en-US');

function fallbackOf(schema: z.ZodType): string | null {
  const value = schema.safeParse(undefined).data;
  if (value === undefined || (typeof value === 'object' && Object.keys(value as object).length === 0)) return null;
  return String(value);
}

function allowedOf({ type, format, enum: choices, minimum, maximum, minLength, maxLength }: Bounds): string {
  if (choices) return choices.map((choice) => `\`${choice}\``).join(', ');
  if (type === 'integer' || type === 'number') {
    const kind = type === 'integer' ? 'whole number' : 'number';
    return `${kind} from ${number(minimum ?? Number.NaN)} to ${number(maximum ?? Number.NaN)}`;
  }
  if (type === 'object') return 'JSON object';
  if (type === 'array') return 'list separated by commas';
  if (format === 'uri') return 'URL';
  if (maxLength !== undefined) return `text of at most ${number(maxLength)} characters`;
  if (minLength !== undefined && minLength > 1) return `text of at least ${number(minLength)} characters`;
  return 'text';
}

/** Every setting, in the order of src/settings.ts. */
export const describedSettings: readonly DescribedSetting[] = Object.entries<z.ZodType>(settings).map(
  ([name, schema]) => ({
    name,
    meaning: schema.description ?? '',
    fallback: fallbackOf(schema),
    allowed: allowedOf(z.toJSONSchema(schema, { unrepresentable: 'any' }) as Bounds),
  }),
);
