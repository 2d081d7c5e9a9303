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
  // Dates are days in UTC. A time without its zone would be another one on every machine.
  const form = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.exec(text);
  const [time, day] = [new Date(text), new Date(form?.[1] ?? '')];
  // February 30 would be March 2.
  const isReal =
    !Number.isNaN(time.getTime()) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(form?.[1] ?? '');
  if (!isReal) {
    throw new UsageError(
      `--${name} is ${text}: give a date such as 2026-11-30, or a time with its zone such as 2026-11-30T08:00:00Z.`,
    );
  }
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
 * text, to the last digit. The command is understood before any database is touched.
 *
 * @throws UsageError, and the errors of parseArgs.
 */
export function ledger(args: readonly string[]): (pool: Database['pool']) => AsyncGenerator<string> {
  const { values } = parseArgs({ args: [...args], options });
  const { format, owner = null, tenant = null } = values;
  if (format !== 'csv' && format !== 'jsonl') throw new UsageError(`--format is ${format}: give csv or jsonl.`);
  const [from, to] = [readTime('from', values.from), readTime('to', values.to)];
  if (from !== null && to !== null && from > to) throw new UsageError('--from lies behind --to.');
  return (pool) => lines(pool, format, { from, to, owner, tenant });
}

async function* lines(pool: Database['pool'], format: 'csv' | 'jsonl', filter: Parameters<typeof exportCalls>[1]) {
  if (format === 'csv') yield `${exportColumns.join(',')}\r\n`;
  for await (const call of exportCalls(pool, filter)) {
    yield format === 'csv' ? toCsv(call) : `${JSON.stringify(call)}\n`;
  }
}
