import type { Queryable } from './queryable.js';

/** Which calls of the ledger: those made from one moment on and before another, of one caller or of all. */
export interface ExportFilter {
  readonly from: Date | null;
  readonly to: Date | null;
  readonly owner: string | null;
  readonly tenant: string | null;
}

/** The columns of an export, in their order. */
export const exportColumns = [
  'id',
  'created_at',
  'settled_at',
  'tenant',
  'owner',
  'session_id',
  'turn_id',
  'step',
  'attempt',
  'purpose',
  'model',
  'status',
  'error_code',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'usage_estimated',
  'input_price',
  'cached_input_price',
  'output_price',
  'cost_usd',
] as const;

/** Money and prices are decimal strings, so that nothing is rounded on the way. */
export type ExportedCall = Readonly<Record<(typeof exportColumns)[number], string | number | boolean | Date | null>>;

const pageSize = 1_000;
const counts = new Set<string>(['input_tokens', 'cached_input_tokens', 'output_tokens', 'reasoning_tokens']);
const columns = exportColumns.map((name) => (counts.has(name) ? `${name}::float8` : name)).join(', ');

/** The calls of the ledger in the order in which they were made, read in pages: an export may be of any size. */
export async function* exportCalls(
  db: Queryable,
  { from, to, owner, tenant }: ExportFilter,
): AsyncGenerator<ExportedCall> {
  // Ids rise with time.
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await db.query<ExportedCall & { readonly id: string }>({
      name: 'export-calls',
      text: `
SELECT ${columns} FROM model_calls
WHERE id > $1 AND ($2::timestamptz IS NULL OR created_at >= $2) AND ($3::timestamptz IS NULL OR created_at < $3)
  AND ($4::text IS NULL OR owner = $4) AND ($5::text IS NULL OR tenant = $5)
ORDER BY id LIMIT ${pageSize}`,
      values: [last, from, to, owner, tenant],
    });
    yield* rows;
    const end = rows.at(-1);
    if (!end || rows.length < pageSize) return;
    last = end.id;
  }
}
