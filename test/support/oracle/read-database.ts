import { globalId } from '../../../src/graphql/ids.js';
import { runSql } from '../database-server.js';

export interface StoredTurn {
  readonly id: string;
  readonly number: number;
  readonly status: string;
  readonly errorCode: string | null;
  readonly epoch: number;
  readonly attempts: number;
  readonly hasOwner: boolean;
  readonly isFinished: boolean;
  readonly userMessageId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
}

export interface StoredMessage {
  readonly id: string;
  readonly turnId: string | null;
  readonly sequence: number;
  readonly role: 'USER' | 'ASSISTANT' | 'TOOL';
  readonly status: string;
  readonly content: string;
  readonly step: number | null;
  readonly toolCallId: string | null;
  readonly seeded: boolean;
  /** Ids under which the model knows the calls it made, in order. */
  readonly calls: readonly string[];
}

export interface StoredToolCall {
  /** As its tool knows it. */
  readonly id: string;
  readonly turnId: string | null;
  readonly callId: string;
  readonly status: string;
}

/** A row of the ledger. Decimals are text. */
export interface StoredModelCall {
  readonly turnId: string | null;
  readonly status: string;
  readonly step: number | null;
  readonly attempt: number;
  readonly inputPrice: string | null;
  readonly cachedInputPrice: string | null;
  readonly outputPrice: string | null;
  readonly heldCostUsd: string;
  readonly heldTokens: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly estimated: boolean;
  readonly costUsd: string;
}

export interface StoredBudget {
  readonly id: string;
  /** Null is unlimited. */
  readonly maxCostUsd: string | null;
  readonly maxTokens: number | null;
  readonly spentCostUsd: string;
  readonly spentTokens: number;
  readonly heldCostUsd: string;
  readonly heldTokens: number;
  /** What the ledger says of it, all its sessions and those deleted included. */
  readonly ledgerCostUsd: string;
  readonly ledgerTokens: number;
}

export interface StoredSession {
  readonly id: string;
  readonly activeTurnId: string | null;
  readonly queuedTurns: number;
  readonly turnCount: number;
  readonly lastMessageSequence: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalCostUsd: string;
  readonly budget: StoredBudget;
  readonly turns: readonly StoredTurn[];
  readonly messages: readonly StoredMessage[];
  readonly toolCalls: readonly StoredToolCall[];
  readonly modelCalls: readonly StoredModelCall[];
}

const turns = `
SELECT id, number, status, error_code AS "errorCode", lease_epoch AS epoch, attempts, lease_owner IS NOT NULL AS "hasOwner",
       finished_at IS NOT NULL AS "isFinished", user_message_id AS "userMessageId", input_tokens AS "inputTokens",
       output_tokens AS "outputTokens", cost_usd::text AS "costUsd"
FROM turns WHERE session_id = s.id ORDER BY number`;

const messages = `
SELECT m.id, m.turn_id AS "turnId", m.sequence, m.role, m.status, m.content, m.step, m.tool_call_id AS "toolCallId", m.seeded,
       (SELECT coalesce(jsonb_agg(call_id ORDER BY position), '[]') FROM tool_calls WHERE message_id = m.id) AS calls
FROM messages m WHERE m.session_id = s.id ORDER BY m.sequence`;

const toolCalls = `
SELECT id, turn_id AS "turnId", call_id AS "callId", status FROM tool_calls
WHERE session_id = s.id ORDER BY message_id, position`;

const modelCalls = `
SELECT turn_id AS "turnId", status, step, attempt, input_price::text AS "inputPrice",
       cached_input_price::text AS "cachedInputPrice", output_price::text AS "outputPrice",
       held_cost_usd::text AS "heldCostUsd", held_tokens AS "heldTokens", input_tokens AS "inputTokens",
       cached_input_tokens AS "cachedInputTokens", output_tokens AS "outputTokens", usage_estimated AS estimated,
       cost_usd::text AS "costUsd"
FROM model_calls WHERE session_id = s.id ORDER BY created_at, id`;

const budget = `
SELECT b.id, b.max_cost_usd::text AS "maxCostUsd", b.max_tokens AS "maxTokens", b.spent_cost_usd::text AS "spentCostUsd", b.spent_tokens AS "spentTokens",
       b.held_cost_usd::text AS "heldCostUsd", b.held_tokens AS "heldTokens",
       coalesce(sum(c.cost_usd), 0)::text AS "ledgerCostUsd", coalesce(sum(c.input_tokens + c.output_tokens), 0) AS "ledgerTokens"
FROM budgets b LEFT JOIN model_calls c ON c.budget_id = b.id WHERE b.id = s.budget_id GROUP BY b.id`;

const list = (query: string) => `(SELECT coalesce(jsonb_agg(to_jsonb(q)), '[]') FROM (${query}) AS q)`;

const sessions = `
SELECT to_jsonb(t) AS session FROM (
  SELECT s.id, s.active_turn_id AS "activeTurnId", s.queued_turns AS "queuedTurns", s.turn_count AS "turnCount",
         s.last_message_sequence AS "lastMessageSequence", s.input_tokens AS "inputTokens",
         s.output_tokens AS "outputTokens", s.total_cost_usd::text AS "totalCostUsd",
         ${list(turns)} AS turns, ${list(messages)} AS messages, ${list(toolCalls)} AS "toolCalls",
         ${list(modelCalls)} AS "modelCalls", (SELECT to_jsonb(q) FROM (${budget}) AS q) AS budget
  FROM chat_sessions s ORDER BY s.created_at, s.id
) AS t`;

const turnId = (id: string | null) => id && globalId('Turn', id);

/** Everything that is stored of every session of a database, with the ids that clients see. */
export async function readSessions(databaseUrl: string): Promise<StoredSession[]> {
  const { rows } = await runSql<{ session: StoredSession }>(databaseUrl, sessions);
  return rows.map(({ session }) => ({
    ...session,
    id: globalId('ChatSession', session.id),
    activeTurnId: turnId(session.activeTurnId),
    turns: session.turns.map((turn) => ({
      ...turn,
      id: globalId('Turn', turn.id),
      userMessageId: globalId('Message', turn.userMessageId),
    })),
    messages: session.messages.map((message) => ({
      ...message,
      id: globalId('Message', message.id),
      turnId: turnId(message.turnId),
    })),
    toolCalls: session.toolCalls.map((call) => ({ ...call, turnId: turnId(call.turnId) })),
    modelCalls: session.modelCalls.map((call) => ({ ...call, turnId: turnId(call.turnId) })),
  }));
}
