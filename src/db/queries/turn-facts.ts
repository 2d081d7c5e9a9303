/** What a turn's owner needs to know of the turn and its session. */
export interface TurnFacts {
  readonly sessionId: string;
  readonly turnId: string;
  readonly number: number;
  /** Of this ownership: every write is conditional on it. */
  readonly epoch: number;
  readonly owner: string;
  readonly tenant: string;
  readonly budgetId: string;
  readonly model: string;
  readonly systemPrompt: string;
  readonly temperature: number | null;
  readonly maxOutputTokens: number | null;
  readonly maxHistory: number | null;
  readonly maxSteps: number;
  /** Server tools that the session may use; null allows all. */
  readonly toolNames: readonly string[] | null;
  /** Tools that the client of the session runs. */
  readonly clientTools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  }[];
}

/** What of a session its turns need to know; no other table that is read with it has columns of these names. */
export const factColumns = `budget_id, model, system_prompt, temperature,
       max_output_tokens, max_history, max_steps_per_turn, tool_names, client_tools`;

export interface FactRow {
  budget_id: string;
  model: string;
  system_prompt: string;
  temperature: number | null;
  max_output_tokens: number | null;
  max_history: number | null;
  max_steps_per_turn: number;
  tool_names: string[] | null;
  client_tools: TurnFacts['clientTools'] | null;
}

/** The facts of a turn: what is known of the turn itself, with what the row tells of its session. */
export const toFacts = (
  turn: Pick<TurnFacts, 'sessionId' | 'turnId' | 'number' | 'epoch' | 'owner' | 'tenant'>,
  row: FactRow,
): TurnFacts => ({
  sessionId: turn.sessionId,
  turnId: turn.turnId,
  number: turn.number,
  epoch: turn.epoch,
  owner: turn.owner,
  tenant: turn.tenant,
  budgetId: row.budget_id,
  model: row.model,
  systemPrompt: row.system_prompt,
  temperature: row.temperature,
  maxOutputTokens: row.max_output_tokens,
  maxHistory: row.max_history,
  maxSteps: row.max_steps_per_turn,
  toolNames: row.tool_names,
  clientTools: row.client_tools ?? [],
});
