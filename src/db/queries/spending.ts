import type { Queryable } from './queryable.js';

/** What a caller has spent in all, also in sessions that were deleted. Money is a decimal string in USD. */
export interface Spending {
  readonly totalTokens: number;
  readonly totalCostUsd: string;
}

export async function spendingOf(
  db: Queryable,
  caller: { readonly owner: string; readonly tenant: string },
): Promise<Spending> {
  const { rows } = await db.query<{ tokens: string; cost: string }>({
    name: 'spending-of',
    text: `
SELECT coalesce(sum(input_tokens + output_tokens), 0)::text AS tokens, coalesce(sum(cost_usd), 0)::text AS cost
FROM model_calls WHERE tenant = $1 AND owner = $2`,
    values: [caller.tenant, caller.owner],
  });
  return { totalTokens: Number(rows[0]?.tokens ?? 0), totalCostUsd: rows[0]?.cost ?? '0' };
}

export async function countSessions(
  db: Queryable,
  caller: { readonly owner: string; readonly tenant: string },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-sessions',
    text: 'SELECT count(*)::integer AS count FROM chat_sessions WHERE tenant = $1 AND owner = $2',
    values: [caller.tenant, caller.owner],
  });
  return rows[0]?.count ?? 0;
}
