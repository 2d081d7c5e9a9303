import { runSql } from '../database-server.js';
import { groupBy } from './group-by.js';

/** A text that nothing else has, planted where it must not spread from. */
export interface Canary {
  readonly name: string;
  readonly value: string;
  /** Where it may be found: `log`, `events`, or `table.column`. */
  readonly allowedIn?: readonly string[];
}

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** Names of the columns that hold a text, as one expression over a table. */
function columnsHolding(value: string, columns: readonly { readonly column: string; readonly type: string }[]): string {
  const tests = columns.map(({ column, type }) => {
    const text = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`;
    return `CASE WHEN bool_or(position(${literal(value)} IN ${text}) > 0) THEN ${literal(column)} END`;
  });
  return `to_jsonb(array_remove(ARRAY[${tests.join(', ')}], NULL))`;
}

async function columnsWith(databaseUrl: string, value: string): Promise<string[]> {
  const { rows: columns } = await runSql<{ table: string; column: string; type: string }>(
    databaseUrl,
    `SELECT table_name AS table, column_name AS column, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'public' ORDER BY 1, 2`,
  );
  const searches = [...groupBy(columns, ({ table }) => table)].map(
    ([table, own]) => `SELECT ${literal(table)} AS table, ${columnsHolding(value, own)} AS found FROM "${table}"`,
  );
  const { rows } = await runSql<{ table: string; found: string[] }>(databaseUrl, searches.join(' UNION ALL '));
  return rows.flatMap(({ table, found }) => found.map((column) => `${table}.${column}`));
}

/** I10: where planted texts are found outside of their places. */
export async function canaryProblems(
  canaries: readonly Canary[],
  places: { readonly database: { readonly url: string }; readonly log: readonly string[]; readonly events: unknown },
): Promise<string[]> {
  const log = places.log.join('\n');
  const events = JSON.stringify(places.events);
  const problems: string[] = [];
  for (const { name, value, allowedIn = [] } of canaries) {
    const found = [
      ...(log.includes(value) ? ['log'] : []),
      ...(events.includes(value) ? ['events'] : []),
      ...(await columnsWith(places.database.url, value)),
    ];
    for (const place of found) if (!allowedIn.includes(place)) problems.push(`I10: ${name} is in ${place}`);
  }
  return problems;
}
