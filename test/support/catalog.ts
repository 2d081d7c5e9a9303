import { runSql } from './database-server.js';

/** What a database is made of, one line per part: enough to tell two schemas apart. */
export interface Catalog {
  readonly columns: readonly string[];
  readonly enums: readonly string[];
  readonly indexes: readonly string[];
  readonly constraints: readonly string[];
}

const inPublic = `n.nspname = 'public' AND c.relname <> '_prisma_migrations'`;

const queries: Readonly<Record<keyof Catalog, string>> = {
  columns: `
    SELECT format('%s.%s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                  CASE WHEN a.attnotnull THEN ' not null' END,
                  ' default ' || pg_get_expr(d.adbin, d.adrelid)) AS line
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE ${inPublic} AND c.relkind IN ('r', 'p', 'v', 'm')`,
  enums: `
    SELECT format('%s %s', t.typname, string_agg(e.enumlabel, ' ' ORDER BY e.enumsortorder)) AS line
    FROM pg_type t
    JOIN pg_enum e ON e.enumtypid = t.oid
    GROUP BY t.typname`,
  indexes: `
    SELECT pg_get_indexdef(i.indexrelid) AS line
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${inPublic}`,
  constraints: `
    SELECT format('%s.%s %s', c.relname, k.conname, pg_get_constraintdef(k.oid)) AS line
    FROM pg_constraint k
    JOIN pg_class c ON c.oid = k.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${inPublic} AND k.contype <> 'n'`,
};

export async function readCatalog(url: string): Promise<Catalog> {
  const lines = async (sql: string) => {
    const { rows } = await runSql<{ line: string }>(url, `SELECT line FROM (${sql}) AS lines ORDER BY line`);
    return rows.map((row) => row.line);
  };
  const [columns, enums, indexes, constraints] = await Promise.all([
    lines(queries.columns),
    lines(queries.enums),
    lines(queries.indexes),
    lines(queries.constraints),
  ]);
  return { columns, enums, indexes, constraints };
}
