import type { UsedUpLimit } from './budgets-of.js';

/** The tightest limit on a call. Amounts are decimal strings, in USD or in tokens. */
export interface TightestLimit {
  readonly scope: UsedUpLimit['scope'];
  readonly kind: UsedUpLimit['kind'];
  readonly limit: string;
  readonly spent: string;
  /** What calls have reserved that are under way. */
  readonly held: string;
  /** Without prices a limit on money cannot be kept. */
  readonly isPriceUnknown: boolean;
}

/** The columns of a budget that its limits are read from. */
export const limitColumns =
  'b.id, b.scope, b.max_cost_usd, b.spent_cost_usd, b.held_cost_usd, b.max_tokens, b.spent_tokens, b.held_tokens';

/**
 * CTEs that find the limit that affords the fewest output tokens. They expect `charged`, the budgets locked and with
 * `limitColumns`, and `price (input, output, is_unknown)`. div() cuts, where a quotient would be rounded up.
 *
 * @param inputTokens an expression: what else is to be paid
 */
export const tightestLimit = (inputTokens: string): string => `
limits AS (
  SELECT scope, 'COST' AS kind, max_cost_usd::text AS "limit", spent_cost_usd::text AS spent, held_cost_usd::text AS held, is_unknown,
         CASE WHEN is_unknown OR max_cost_usd = 0 OR max_cost_usd < spent_cost_usd + held_cost_usd THEN -1
              WHEN output = 0 THEN CASE WHEN (max_cost_usd - spent_cost_usd - held_cost_usd) * 1000000 < ${inputTokens} * input THEN -1 ELSE 9007199254740991 END
              ELSE div((max_cost_usd - spent_cost_usd - held_cost_usd) * 1000000 - ${inputTokens} * input, output) END AS affords
  FROM charged, price WHERE max_cost_usd IS NOT NULL
  UNION ALL
  SELECT scope, 'TOKENS', max_tokens::text, spent_tokens::text, held_tokens::text, false, max_tokens - spent_tokens - held_tokens - ${inputTokens}
  FROM charged WHERE max_tokens IS NOT NULL
), tightest AS (
  SELECT * FROM limits ORDER BY affords LIMIT 1
)`;

/** `tightest` as a row has it; all but what a statement adds is null where nothing is limited. */
export interface TightestRow {
  scope: TightestLimit['scope'] | null;
  kind: TightestLimit['kind'];
  limit: string;
  spent: string;
  held: string;
  is_unknown: boolean;
}

export const toTightest = (row: TightestRow): TightestLimit | null => {
  const { scope, kind, limit, spent, held, is_unknown: isPriceUnknown } = row;
  return scope && { scope, kind, limit, spent, held, isPriceUnknown };
};
