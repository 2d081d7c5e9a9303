import type { Queryable } from './queryable.js';
import { limitColumns, type TightestLimit, type TightestRow, tightestLimit, toTightest } from './tightest-limit.js';

// A row that holds more than its caller knows was given it by a statement whose answer was lost. Locked in the order in which calls are settled: the call, then its budgets by their ids.
const text = `
WITH call AS (
  SELECT c.id, c.held_by, c.output_price, c.held_tokens - $4::bigint AS given FROM model_calls c
  WHERE c.id = $1 AND c.status = 'PENDING' AND EXISTS (SELECT FROM turns t WHERE t.id = c.turn_id AND t.lease_epoch = $2)
  FOR UPDATE
), price AS (
  SELECT 0 AS input, output_price AS output, output_price IS NULL AS is_unknown FROM call
), charged AS (
  SELECT ${limitColumns} FROM call, budgets b WHERE b.id = ANY(call.held_by) ORDER BY b.id FOR UPDATE OF b
), ${tightestLimit('0')}, more AS (
  SELECT allowed.output, CASE WHEN is_unknown THEN 0 ELSE allowed.output * price.output / 1000000 END AS cost
  FROM call, price, LATERAL (SELECT least($3::bigint, (SELECT affords FROM tightest))::bigint AS output) AS allowed
  WHERE allowed.output > 0 AND call.given = 0
), budget AS (
  UPDATE budgets b SET held_cost_usd = b.held_cost_usd + more.cost, held_tokens = b.held_tokens + more.output, updated_at = now()
  FROM more, charged WHERE b.id = charged.id
), held AS (
  UPDATE model_calls c SET held_cost_usd = c.held_cost_usd + more.cost, held_tokens = c.held_tokens + more.output
  FROM more, call WHERE c.id = call.id
)
SELECT coalesce((SELECT output FROM more), call.given) AS output, tightest.* FROM call LEFT JOIN tightest ON true`;

/** What a call has been given beyond its hold. */
export interface Extension {
  /** Output tokens; 0 when there are none left. */
  readonly outputTokens: number;
  readonly tightest: TightestLimit | null;
}

/**
 * Reserves more output for a call that is under way, at most what the tightest limit affords. Done again because its
 * answer was lost, it reserves nothing more. Null when the call is settled, or is not this owner's any more.
 *
 * @param call with what it is known to hold
 */
export async function extendHold(
  db: Queryable,
  call: { readonly id: string; readonly epoch: number; readonly heldTokens: number },
  outputTokens: number,
): Promise<Extension | null> {
  const { rows } = await db.query<TightestRow & { output: string }>({
    name: 'extend-hold',
    text,
    values: [call.id, call.epoch, outputTokens, call.heldTokens],
  });
  const row = rows[0];
  return row ? { outputTokens: Number(row.output), tightest: toTightest(row) } : null;
}
