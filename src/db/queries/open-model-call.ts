import { budgetsOf } from './budgets-of.js';
import type { Queryable } from './queryable.js';

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

/** The tightest limit on a call. Amounts are decimal strings, in USD or in tokens. */
export interface TightestLimit {
  readonly scope: 'SESSION' | 'OWNER' | 'TENANT';
  readonly kind: 'cost' | 'tokens';
  readonly limit: string;
  readonly spent: string;
  /** What calls have reserved that are under way. */
  readonly held: string;
  /** Without prices a limit on money cannot be kept. */
  readonly isPriceUnknown: boolean;
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
// Output is what the tightest limit still pays for beside the prompt: div() cuts, where a quotient would be rounded up. A
// call whose opening was stored although its answer was lost has its hold already.
const text = `
WITH turn AS (
  UPDATE turns SET step = $3, context_report = coalesce($14::jsonb, context_report) WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING' RETURNING id
), price AS (
  SELECT greatest($11::numeric, $12::numeric) AS input, $13::numeric AS output, $11::numeric IS NULL OR $13::numeric IS NULL AS is_unknown
), charged AS (
  SELECT b.id, b.scope, b.max_cost_usd, b.spent_cost_usd, b.held_cost_usd, b.max_tokens, b.spent_tokens, b.held_tokens
  FROM budgets b
  WHERE b.id = ANY(ARRAY(${budgetsOf({ budget: '$6::uuid', owner: '$7', tenant: '$8' })})) AND EXISTS (SELECT FROM turn)
  ORDER BY b.id FOR UPDATE
), limits AS (
  SELECT scope, 'cost' AS kind, max_cost_usd::text AS "limit", spent_cost_usd::text AS spent, held_cost_usd::text AS held, is_unknown,
         CASE WHEN is_unknown OR max_cost_usd <= spent_cost_usd + held_cost_usd THEN -1
              WHEN output = 0 THEN CASE WHEN (max_cost_usd - spent_cost_usd - held_cost_usd) * 1000000 < $16::bigint * input THEN -1 ELSE 9007199254740991 END
              ELSE div((max_cost_usd - spent_cost_usd - held_cost_usd) * 1000000 - $16::bigint * input, output) END AS affords
  FROM charged, price WHERE max_cost_usd IS NOT NULL
  UNION ALL
  SELECT scope, 'tokens', max_tokens::text, spent_tokens::text, held_tokens::text, false, max_tokens - spent_tokens - held_tokens - $16::bigint
  FROM charged WHERE max_tokens IS NOT NULL
), tightest AS (
  SELECT * FROM limits ORDER BY affords LIMIT 1
), prior AS (
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

interface Row {
  output: string | null;
  /** All that follows is null where nothing is limited. */
  scope: TightestLimit['scope'] | null;
  kind: TightestLimit['kind'];
  limit: string;
  spent: string;
  held: string;
  is_unknown: boolean;
}

const toTightest = ({ scope, kind, limit, spent, held, is_unknown: isPriceUnknown }: Row): TightestLimit | null =>
  scope && { scope, kind, limit, spent, held, isPriceUnknown };

/**
 * Writes the ledger row before the request is made, and reserves what the call may come to at worst, in every budget that
 * it is charged to: all in one statement, so that calls that are opened at once never reserve the same money. The output
 * is cut to what the tightest limit affords. Done again because its answer was lost, it stays one row and one hold.
 */
export async function openModelCall(db: Queryable, call: ModelCallToOpen): Promise<OpenedCall> {
  const { rows } = await db.query<Row>({
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
