import { parseArgs } from 'node:util';
import type { Database } from '../db/database.js';
import { type ExportedCall, exportCalls, exportColumns } from '../db/queries/export-calls.js';
import { UsageError } from './usage.js';

const options = {
  format: { type: 'string', default: 'csv' },
  from: { type: 'string' },
  to: { type: 'string' },
  owner: { type: 'string' },
  tenant: { type: 'string' },
} as const;

function readTime(name: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new UsageError(`--${name} is ${text}: give a date such as 2026-11-30, or a time.`);
  return time;
}

const toText = (value: ExportedCall[string & keyof ExportedCall]) =>
  value === null ? '' : value instanceof Date ? value.toISOString() : String(value);

/** A field as RFC 4180 has it. A text that a spreadsheet would run as a formula is made one that it shows. */
function toField(value: ExportedCall[string & keyof ExportedCall]): string {
  const text = typeof value === 'string' && /^[=+@\t\r-]/.test(value) ? `'${value}` : toText(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const toCsv = (call: ExportedCall) => `${exportColumns.map((name) => toField(call[name])).join(',')}\r\n`;

/**
 * The ledger as text, a call in a line: comma-separated values with a line of names, or JSON lines. Money stays decimal
 * text, to the last digit.
 *
 * @throws UsageError.
 */
export function ledger(pool: Database['pool'], args: readonly string[]): AsyncGenerator<string> {
  const { values } = parseArgs({ args: [...args], options });
  const { format, owner = null, tenant = null } = values;
  if (format !== 'csv' && format !== 'jsonl') throw new UsageError(`--format is ${format}: give csv or jsonl.`);
  const filter = { from: readTime('from', values.from), to: readTime('to', values.to), owner, tenant };
  return lines(pool, format, filter);
}

async function* lines(pool: Database['pool'], format: 'csv' | 'jsonl', filter: Parameters<typeof exportCalls>[1]) {
  if (format === 'csv') yield `${exportColumns.join(',')}\r\n`;
  for await (const call of exportCalls(pool, filter)) {
    yield format === 'csv' ? toCsv(call) : `${JSON.stringify(call)}\n`;
  }
}
