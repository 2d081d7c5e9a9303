import type { Queryable } from './queryable.js';

/** What shall change; a field that is left out stays. JSON values are given as text, money as decimal strings. */
export interface SessionUpdate {
  readonly title?: string | null;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly maxHistory?: number | null;
  readonly maxStepsPerTurn?: number;
  readonly metadata?: string | null;
  readonly maxCostUsd?: string | null;
  readonly maxTokens?: number | null;
}

// $n says whether a field changes, $n+1 to what; a null new value is a value.
const text = `
WITH session AS (
  UPDATE chat_sessions
  SET title = CASE WHEN $4 THEN $5 ELSE title END,
      model = CASE WHEN $6 THEN $7 ELSE model END,
      system_prompt = CASE WHEN $8 THEN $9 ELSE system_prompt END,
      max_history = CASE WHEN $10 THEN $11::int ELSE max_history END,
      max_steps_per_turn = CASE WHEN $12 THEN $13::int ELSE max_steps_per_turn END,
      metadata = CASE WHEN $14 THEN $15::jsonb ELSE metadata END,
      updated_at = now()
  WHERE id = $1 AND owner = $2 AND tenant = $3 AND status = 'OPEN'
  RETURNING budget_id
), budget AS (
  UPDATE budgets
  SET max_cost_usd = CASE WHEN $16 THEN $17::numeric ELSE max_cost_usd END,
      max_tokens = CASE WHEN $18 THEN $19::bigint ELSE max_tokens END,
      updated_at = now()
  FROM session WHERE budgets.id = session.budget_id AND ($16 OR $18)
)
SELECT 1 FROM session`;

/** Changes an open session. False when it is not there, not the caller's, or closed. */
export async function updateSession(
  db: Queryable,
  session: { readonly sessionId: string; readonly owner: string; readonly tenant: string },
  update: SessionUpdate,
): Promise<boolean> {
  const fields = [
    update.title,
    update.model,
    update.systemPrompt,
    update.maxHistory,
    update.maxStepsPerTurn,
    update.metadata,
    update.maxCostUsd,
    update.maxTokens,
  ];
  const { rowCount } = await db.query({
    name: 'update-session',
    text,
    values: [
      session.sessionId,
      session.owner,
      session.tenant,
      ...fields.flatMap((value) => [value !== undefined, value ?? null]),
    ],
  });
  return rowCount === 1;
}
