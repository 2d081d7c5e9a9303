/** Where the session's budget, the owner and the tenant of a call stand, as expressions of a statement. */
interface Concerned {
  readonly budget: string;
  readonly owner: string;
  readonly tenant: string;
}

/** Ids of the budgets that a call is charged to: the session's own or shared one, the owner's and the tenant's. */
export const budgetsOf = ({ budget, owner, tenant }: Concerned): string => `
  SELECT ${budget} AS id
  UNION ALL SELECT o.id FROM budgets o WHERE o.scope = 'OWNER' AND o.tenant = ${tenant} AND o.owner = ${owner}
  UNION ALL SELECT t.id FROM budgets t WHERE t.scope = 'TENANT' AND t.tenant = ${tenant}`;

/**
 * Whether nothing of a budget is left, so that no call can be made on it. A limit of 0 leaves nothing from the start.
 *
 * @param heldCounts a condition: what calls under way have reserved counts as well, for a call that is made now and not
 *   behind them
 */
export const isUsedUp = (b: string, heldCounts: string): string =>
  `(coalesce(${b}.spent_cost_usd + CASE WHEN ${heldCounts} THEN ${b}.held_cost_usd ELSE 0 END >= ${b}.max_cost_usd, false)
    OR coalesce(${b}.spent_tokens + CASE WHEN ${heldCounts} THEN ${b}.held_tokens ELSE 0 END >= ${b}.max_tokens, false))`;

/** A limit of which nothing is left, whatever a call would need: figures in USD for COST, else tokens. */
export interface UsedUpLimit {
  readonly scope: 'SESSION' | 'OWNER' | 'TENANT';
  readonly kind: 'COST' | 'TOKENS';
  readonly limit: number;
  readonly spent: number;
  readonly held: number;
  readonly needed: null;
}

/** An expression for the first UsedUpLimit among the budgets of a session; null when there is none. */
export const usedUpLimit = (concerned: Concerned, heldCounts: string): string => `
  (SELECT CASE WHEN b.spent_cost_usd + b.held_cost_usd >= b.max_cost_usd
               THEN json_build_object('scope', b.scope, 'kind', 'COST', 'limit', b.max_cost_usd,
                                      'spent', b.spent_cost_usd, 'held', b.held_cost_usd, 'needed', NULL)
               ELSE json_build_object('scope', b.scope, 'kind', 'TOKENS', 'limit', b.max_tokens,
                                      'spent', b.spent_tokens, 'held', b.held_tokens, 'needed', NULL) END
   FROM budgets b WHERE b.id IN (${budgetsOf(concerned)}) AND ${isUsedUp('b', heldCounts)}
   ORDER BY b.scope LIMIT 1)`;
