import { budgetsOf } from './budgets-of.js';
import type { Queryable } from './queryable.js';
import { limitColumns, type TightestLimit, type TightestRow, tightestLimit, toTightest } from './tightest-limit.js';

/** A request to the provider that is about to be made. Prices are decimal strings, USD per million tokens. */
export interface ModelCallToOpen {
  readonly id: string;
  readonly turnId: string;
  readonly epoch: number;
  readonly sessionId: string;
  readonly budgetId: string;
  readonly owner: string;
  readonly tenant: string;
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly inputPrice: string | null;
  readonly cachedInputPrice: string | null;
  readonly outputPrice: string | null;
  readonly purpose: 'ANSWER' | 'SUMMARY';
  /** How its prompt was made up, kept on the turn until its next call; null leaves what is there. */
  readonly contextReport: object | null;
  /** Most tokens that its prompt can come to. */
  readonly inputTokens: number;
  /** Output tokens that it would like to have, and those without which it is not made. */
  readonly wantedOutput: number;
  readonly leastOutput: number;
}

export type OpenedCall =
  /** `tightest` is null where nothing is limited. */
  | { readonly kind: 'opened'; readonly outputTokens: number; readonly tightest: TightestLimit | null }
  | { readonly kind: 'refused'; readonly tightest: TightestLimit }
  /** The turn is not this owner's any more. */
  | { readonly kind: 'lost' };

// The budgets are locked in the order of their ids, here and where calls are settled, so that no two statements wait for
// each other; and a row that is locked shows its newest figures, whatever was committed since the statement began. Their
// ids are an array, which is made once: of a join, rows that were changed while they were waited for can be left out.
// Output is what the tightest limit still pays for beside the prompt. A call whose opening was stored although its answer
// was lost has its hold already.
const text = `
WITH turn AS (
  UPDATE turns SET step = $3, context_report = coalesce($14::jsonb, context_report) WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING' RETURNING id
), price AS (
  SELECT greatest($11::numeric, $12::numeric) AS input, $13::numeric AS output, $11::numeric IS NULL OR $13::numeric IS NULL AS is_unknown
), charged AS (
  SELECT ${limitColumns} FROM budgets b
  WHERE b.id = ANY(ARRAY(${budgetsOf({ budget: '$6::uuid', owner: '$7', tenant: '$8' })})) AND EXISTS (SELECT FROM turn)
  ORDER BY b.id FOR UPDATE
), ${tightestLimit('$16::bigint')}, prior AS (
  SELECT held_tokens - $16::bigint AS output FROM model_calls WHERE id = $4
), hold AS (
  SELECT turn.id AS turn_id, allowed.output, $16::bigint + allowed.output AS tokens,
         CASE WHEN is_unknown THEN 0 ELSE ($16::bigint * price.input + allowed.output * price.output) / 1000000 END AS cost
  FROM turn, price, LATERAL (SELECT least($17::bigint, (SELECT affords FROM tightest))::bigint AS output) AS allowed
  WHERE allowed.output >= $18::bigint AND NOT EXISTS (SELECT FROM prior)
), budget AS (
  UPDATE budgets b SET held_cost_usd = b.held_cost_usd + hold.cost, held_tokens = b.held_tokens + hold.tokens, updated_at = now()
  FROM hold, charged WHERE b.id = charged.id
), call AS (
  INSERT INTO model_calls (id, session_id, turn_id, budget_id, owner, tenant, step, attempt, purpose, model,
                           input_price, cached_input_price, output_price, held_cost_usd, held_tokens, held_by)
  SELECT $4, $5, turn_id, $6, $7, $8, $3, $9, $15::model_call_purpose, $10, $11, $12, $13, cost, tokens, ARRAY(SELECT id FROM charged)
  FROM hold
)
SELECT coalesce((SELECT output FROM prior), (SELECT output FROM hold)) AS output, tightest.*
FROM turn LEFT JOIN tightest ON true`;

/**
 * Writes the ledger row before the request is made, and reserves what the call may come to at worst, in every budget that
 * it is charged to: all in one statement, so that calls that are opened at once never reserve the same money. The output
 * is cut to what the tightest limit affords. Done again because its answer was lost, it stays one row and one hold.
 */
export async function openModelCall(db: Queryable, call: ModelCallToOpen): Promise<OpenedCall> {
  const { rows } = await db.query<TightestRow & { output: string | null }>({
    name: 'open-model-call',
    text,
    values: [
      call.turnId,
      call.epoch,
      call.step,
      call.id,
      call.sessionId,
      call.budgetId,
      call.owner,
      call.tenant,
      call.attempt,
      call.model,
      call.inputPrice,
      call.cachedInputPrice,
      call.outputPrice,
      call.contextReport && JSON.stringify(call.contextReport),
      call.purpose,
      call.inputTokens,
      call.wantedOutput,
      call.leastOutput,
    ],
  });
  const row = rows[0];
  if (!row) return { kind: 'lost' };
  const tightest = toTightest(row);
  if (row.output !== null) return { kind: 'opened', outputTokens: Number(row.output), tightest };
  // Nothing else refuses a call.
  if (!tightest) throw new Error('a model call was refused without a limit');
  return { kind: 'refused', tightest };
}
