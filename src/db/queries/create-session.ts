import type { Queryable } from './queryable.js';

/** A session as it is stored. JSON values are given as text, money as decimal strings in USD. */
export interface SessionToCreate {
  readonly id: string;
  readonly owner: string;
  readonly tenant: string;
  readonly clientSessionId: string | null;
  readonly inputDigest: string;
  readonly title: string | null;
  readonly model: string;
  readonly systemPrompt: string;
  readonly maxHistory: number | null;
  readonly maxStepsPerTurn: number;
  readonly temperature: number | null;
  readonly maxOutputTokens: number | null;
  readonly metadata: string | null;
  /** Names of the server's tools that it may use, as a JSON array; null for the usual ones. */
  readonly toolNames: string | null;
  /** Tools that its client runs, as a JSON array; null for none. */
  readonly clientTools: string | null;
  /** An own budget, or the session whose budget is shared. */
  readonly budget:
    | { readonly id: string; readonly maxCostUsd: string | null; readonly maxTokens: number | null }
    | { readonly sharedWith: string };
}

// The session comes first and the budget only if it came to be, so that a repeated creation leaves no stray budget.
// Foreign keys are checked at the end of the statement.
const text = `
WITH session AS (
  INSERT INTO chat_sessions (id, owner, tenant, client_session_id, input_digest, title, model, system_prompt,
                             max_history, max_steps_per_turn, temperature, max_output_tokens, metadata, tool_names, client_tools,
                             budget_id)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::jsonb, $18::jsonb, $19::jsonb, b.budget_id
  FROM (SELECT $14::uuid AS budget_id WHERE $14::uuid IS NOT NULL
        UNION ALL
        SELECT budget_id FROM chat_sessions WHERE id = $17::uuid AND owner = $2 AND tenant = $3) AS b
  ON CONFLICT (tenant, owner, client_session_id) DO NOTHING
  RETURNING id, budget_id
), budget AS (
  INSERT INTO budgets (id, owner, tenant, max_cost_usd, max_tokens)
  SELECT budget_id, $2, $3, $15::numeric, $16::bigint FROM session WHERE $14::uuid IS NOT NULL
)
SELECT id FROM session`;

/** Creates a session with its budget. False when its clientSessionId is taken, or the session to share with is gone. */
export async function createSession(db: Queryable, session: SessionToCreate): Promise<boolean> {
  const own = 'id' in session.budget ? session.budget : null;
  const { rowCount } = await db.query({
    name: 'create-session',
    text,
    values: [
      session.id,
      session.owner,
      session.tenant,
      session.clientSessionId,
      session.inputDigest,
      session.title,
      session.model,
      session.systemPrompt,
      session.maxHistory,
      session.maxStepsPerTurn,
      session.temperature,
      session.maxOutputTokens,
      session.metadata,
      own?.id ?? null,
      own?.maxCostUsd ?? null,
      own?.maxTokens ?? null,
      'sharedWith' in session.budget ? session.budget.sharedWith : null,
      session.toolNames,
      session.clientTools,
    ],
  });
  return rowCount === 1;
}
