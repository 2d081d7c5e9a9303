import type { Queryable } from './queryable.js';

/** By what usage is summed, and over which calls: those made from one moment on and before another. */
export interface UsageQuery {
  readonly byDay: boolean;
  readonly byModel: boolean;
  readonly from: Date;
  readonly to: Date;
}

/** The calls of one day (UTC) or of all, of one model or of all. Money is a decimal string in USD. */
export interface UsageSum {
  readonly sessionId: string | null;
  /** Its beginning. */
  readonly day: Date | null;
  readonly model: string | null;
  readonly calls: number;
  readonly inputTokens: bigint;
  readonly cachedInputTokens: bigint;
  readonly outputTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly usageEstimated: boolean;
  readonly costUsd: string;
}

interface Row {
  session_id: string | null;
  day: Date | null;
  model: string | null;
  calls: number;
  input_tokens: string;
  cached_input_tokens: string;
  output_tokens: string;
  reasoning_tokens: string;
  estimated: boolean;
  cost_usd: string;
}

const sums = `
count(*)::int AS calls, sum(input_tokens)::text AS input_tokens, sum(cached_input_tokens)::text AS cached_input_tokens,
sum(output_tokens)::text AS output_tokens, sum(reasoning_tokens)::text AS reasoning_tokens,
bool_or(usage_estimated) AS estimated, sum(cost_usd)::text AS cost_usd`;

async function sumsOf(
  db: Queryable,
  name: string,
  { byDay, byModel, from, to }: UsageQuery,
  where: { readonly sql: string; readonly values: readonly unknown[]; readonly session: string },
): Promise<UsageSum[]> {
  const day = byDay ? "date_trunc('day', created_at, 'UTC')" : 'NULL::timestamptz';
  const model = byModel ? 'model' : 'NULL::text';
  const { rows } = await db.query<Row>({
    name: `${name}${byDay ? '-day' : ''}${byModel ? '-model' : ''}`,
    text: `
SELECT ${where.session} AS session_id, ${day} AS day, ${model} AS model, ${sums}
FROM model_calls WHERE created_at >= $1 AND created_at < $2 AND status <> 'PENDING' AND ${where.sql}
GROUP BY 1, 2, 3 ORDER BY 2, 3`,
    values: [from, to, ...where.values],
  });
  return rows.map((row) => ({
    sessionId: row.session_id,
    day: row.day,
    model: row.model,
    calls: row.calls,
    inputTokens: BigInt(row.input_tokens),
    cachedInputTokens: BigInt(row.cached_input_tokens),
    outputTokens: BigInt(row.output_tokens),
    reasoningTokens: BigInt(row.reasoning_tokens),
    usageEstimated: row.estimated,
    costUsd: row.cost_usd,
  }));
}

/** What a caller has used, also in sessions that were deleted, oldest day first. Index: (tenant, owner, created_at). */
export const usageOfCaller = (
  db: Queryable,
  { owner, tenant }: { readonly owner: string; readonly tenant: string },
  query: UsageQuery,
): Promise<UsageSum[]> =>
  sumsOf(db, 'usage-of-caller', query, {
    sql: 'tenant = $3 AND owner = $4',
    values: [tenant, owner],
    session: 'NULL::uuid',
  });

/** What sessions have used, each for itself. Index: (session_id, created_at). */
export const usageOfSessions = (db: Queryable, sessionIds: readonly string[], query: UsageQuery): Promise<UsageSum[]> =>
  sumsOf(db, 'usage-of-sessions', query, {
    sql: 'session_id = ANY($3::uuid[])',
    values: [sessionIds],
    session: 'session_id',
  });
