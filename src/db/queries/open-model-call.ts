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
}

const text = `
WITH turn AS (
  UPDATE turns SET step = $3, context_report = coalesce($14::jsonb, context_report) WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING' RETURNING id
)
INSERT INTO model_calls (id, session_id, turn_id, budget_id, owner, tenant, step, attempt, purpose, model,
                         input_price, cached_input_price, output_price)
SELECT $4, $5, id, $6, $7, $8, $3, $9, $15::model_call_purpose, $10, $11, $12, $13 FROM turn
ON CONFLICT (id) DO UPDATE SET attempt = excluded.attempt`;

/** Writes the ledger row before the request is made; again, when its answer was lost, it stays one. False when the turn is no longer this owner's. */
export async function openModelCall(db: Queryable, call: ModelCallToOpen): Promise<boolean> {
  const { rowCount } = await db.query({
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
    ],
  });
  return rowCount === 1;
}
