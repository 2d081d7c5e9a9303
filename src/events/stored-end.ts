import type { ErrorCode } from '../errors.js';

/** Sums over model calls that have ended. */
interface TokenSums {
  readonly inputTokens: bigint;
  readonly cachedInputTokens: bigint;
  readonly outputTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly usageEstimated: boolean;
}

/**
 * What the statement that ended a turn has stored, under the names of the data model, so that whoever is told of the end
 * in that process need not read it. Money is a decimal string in USD. Never part of what other processes are told.
 */
export interface StoredEnd {
  readonly turn: TokenSums & {
    readonly id: string;
    readonly number: number;
    readonly status: 'COMPLETED' | 'FAILED' | 'STOPPED';
    readonly finishReason: 'STOP' | 'MAX_STEPS' | 'LENGTH' | 'CONTENT_FILTER' | 'BUDGET' | 'STOPPED' | 'ERROR';
    readonly errorCode: ErrorCode | null;
    readonly errorRetryable: boolean | null;
    readonly costUsd: string;
    readonly toolCallsMade: number;
    readonly createdAt: Date;
    readonly startedAt: Date | null;
    readonly finishedAt: Date;
  };
  /** The totals after this turn. */
  readonly session: TokenSums & {
    readonly id: string;
    readonly turnCount: number;
    readonly messageCount: number;
    readonly totalCostUsd: string;
    readonly updatedAt: Date;
  };
  /** Null when there is none; undefined when an earlier statement has stored it. */
  readonly finalMessage:
    | {
        readonly id: string;
        readonly sequence: number;
        readonly role: 'ASSISTANT';
        readonly status: 'COMPLETE' | 'PARTIAL';
        readonly content: string;
        readonly createdAt: Date;
      }
    | null
    | undefined;
}
