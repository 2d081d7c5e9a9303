import type { StoredEnd } from '../../events/stored-end.js';

/**
 * What the CTEs of the statement that ends a turn return of their rows, so that nobody has to read them again. Sums of
 * the turn have names of their own, since its CTE stands beside the session where that one's sums are added to.
 */
export const endColumns = {
  turn: `number, tool_calls_made, final_message_id, created_at AS turn_created_at, started_at, finished_at, cost_usd,
            input_tokens AS turn_input_tokens, cached_input_tokens AS turn_cached_input_tokens,
            output_tokens AS turn_output_tokens, reasoning_tokens AS turn_reasoning_tokens,
            usage_estimated AS turn_estimated`,
  session: `s.turn_count, s.message_count, s.updated_at, s.total_cost_usd, s.input_tokens AS total_input_tokens,
            s.cached_input_tokens AS total_cached_input_tokens, s.output_tokens AS total_output_tokens,
            s.reasoning_tokens AS total_reasoning_tokens, s.usage_estimated AS total_estimated`,
  reply: 'sequence AS reply_sequence, created_at AS reply_created_at',
};

/** Sums are `bigint` and money is `numeric`, which arrive as texts. */
export interface EndRow {
  session_id: string;
  number: number;
  tool_calls_made: number;
  final_message_id: string | null;
  turn_created_at: Date;
  started_at: Date | null;
  finished_at: Date;
  cost_usd: string;
  turn_input_tokens: string;
  turn_cached_input_tokens: string;
  turn_output_tokens: string;
  turn_reasoning_tokens: string;
  turn_estimated: boolean;
  turn_count: number;
  message_count: number;
  updated_at: Date;
  total_cost_usd: string;
  total_input_tokens: string;
  total_cached_input_tokens: string;
  total_output_tokens: string;
  total_reasoning_tokens: string;
  total_estimated: boolean;
  /** Null when the turn has ended without a reply in its last step. */
  reply_sequence: number | null;
  reply_created_at: Date | null;
}

/** What was given to the statement that ended a turn. */
interface GivenEnd extends Pick<StoredEnd['turn'], 'status' | 'finishReason' | 'errorCode' | 'errorRetryable'> {
  readonly turnId: string;
  readonly reply: Pick<NonNullable<StoredEnd['finalMessage']>, 'content' | 'status'> | null;
}

function finalMessageOf({ reply }: GivenEnd, row: EndRow): StoredEnd['finalMessage'] {
  if (row.final_message_id === null) return null;
  if (!reply || row.reply_sequence === null || row.reply_created_at === null) return undefined;
  return {
    id: row.final_message_id,
    sequence: row.reply_sequence,
    role: 'ASSISTANT',
    status: reply.status,
    content: reply.content,
    createdAt: row.reply_created_at,
  };
}

export const toStoredEnd = (end: GivenEnd, row: EndRow): StoredEnd => ({
  turn: {
    id: end.turnId,
    number: row.number,
    status: end.status,
    finishReason: end.finishReason,
    errorCode: end.errorCode,
    errorRetryable: end.errorRetryable,
    toolCallsMade: row.tool_calls_made,
    createdAt: row.turn_created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    costUsd: row.cost_usd,
    inputTokens: BigInt(row.turn_input_tokens),
    cachedInputTokens: BigInt(row.turn_cached_input_tokens),
    outputTokens: BigInt(row.turn_output_tokens),
    reasoningTokens: BigInt(row.turn_reasoning_tokens),
    usageEstimated: row.turn_estimated,
  },
  session: {
    id: row.session_id,
    turnCount: row.turn_count,
    messageCount: row.message_count,
    updatedAt: row.updated_at,
    totalCostUsd: row.total_cost_usd,
    inputTokens: BigInt(row.total_input_tokens),
    cachedInputTokens: BigInt(row.total_cached_input_tokens),
    outputTokens: BigInt(row.total_output_tokens),
    reasoningTokens: BigInt(row.total_reasoning_tokens),
    usageEstimated: row.total_estimated,
  },
  finalMessage: finalMessageOf(end, row),
});
