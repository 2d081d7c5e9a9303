import { z } from 'zod';
import { type ErrorCode, errorTable } from '../../errors.js';
import type { TurnEventBody } from '../event.js';
import type { FeedBatch, FeedSignal } from '../feed.js';

// What comes out of Redis is judged like any other input: another version, or anybody with access to it, wrote it.

type BodySchemas = { readonly [T in TurnEventBody['type']]: z.ZodType<Extract<TurnEventBody, { type: T }>> };

const count = z.int().min(0);
const step = z.int().min(0);

const reached = z
  .object({
    scope: z.enum(['SESSION', 'OWNER', 'TENANT']),
    kind: z.enum(['COST', 'TOKENS']),
    limit: z.number(),
    spent: z.number(),
    held: z.number(),
    needed: z.number().nullable(),
  })
  .exactOptional();

const bodySchemas: BodySchemas = {
  TurnStarted: z.object({ type: z.literal('TurnStarted') }),
  ContextReported: z.object({
    type: z.literal('ContextReported'),
    step,
    report: z.object({
      strategy: z.enum(['PASSTHROUGH', 'FIDELITY', 'SUMMARY', 'AGGRESSIVE']),
      windowTokens: count,
      systemTokens: count,
      toolTokens: count,
      historyTokens: count,
      messagesTotal: count,
      messagesKept: count,
      messagesCompressed: count,
      messagesDropped: count,
      tokensSaved: count,
      fidelity: z.object({ l0: count, l1: count, l2: count, l3: count }),
      toolsLoaded: count,
      toolsAvailable: count,
    }),
  }),
  TextDelta: z.object({ type: z.literal('TextDelta'), step, messageId: z.string(), delta: z.string() }),
  ThinkingDelta: z.object({ type: z.literal('ThinkingDelta'), step, delta: z.string() }),
  StepCompleted: z.object({
    type: z.literal('StepCompleted'),
    step,
    usage: z.object({
      inputTokens: count,
      cachedInputTokens: count,
      outputTokens: count,
      reasoningTokens: count,
      estimated: z.boolean(),
    }),
    costUsd: z.number(),
    assessment: z.object({
      completed: z.boolean(),
      confidence: z.number().nullable(),
      needsClarification: z.boolean(),
      reasons: z.array(z.string()),
    }),
    goesOn: z.enum(['length', 'verify']).nullable(),
  }),
  ToolCallStarted: z.object({ type: z.literal('ToolCallStarted'), step, toolCallId: z.string() }),
  ToolCallCompleted: z.object({ type: z.literal('ToolCallCompleted'), step, toolCallId: z.string() }),
  DiagnosisReported: z.object({
    type: z.literal('DiagnosisReported'),
    step,
    callId: z.string(),
    category: z.string(),
    suggestion: z.string(),
  }),
  InputRequested: z.object({ type: z.literal('InputRequested'), requestId: z.string() }),
  InputResolved: z.object({ type: z.literal('InputResolved'), requestId: z.string() }),
  TurnCompleted: z.object({ type: z.literal('TurnCompleted'), reached }),
  TurnFailed: z.object({
    type: z.literal('TurnFailed'),
    code: z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]),
    retryable: z.boolean(),
    reached,
  }),
  TurnStopped: z.object({ type: z.literal('TurnStopped') }),
};

const batches = z.array(
  z.object({
    epoch: count,
    from: count,
    events: z.array(z.object({ body: z.union(Object.values(bodySchemas)), at: z.number() })),
  }),
);

const signals: z.ZodType<FeedSignal[]> = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('turn'), turnId: z.string() }),
    z.object({ kind: z.literal('stop'), turnId: z.string() }),
    z.object({ kind: z.literal('session'), sessionId: z.string() }),
    z.object({ kind: z.literal('released') }),
  ]),
);

function read<T>(schema: z.ZodType<T>, text: string | undefined): T | null {
  try {
    return schema.safeParse(JSON.parse(text ?? '')).data ?? null;
  } catch {
    return null;
  }
}

/** The turn is left out: it stands in the name of the stream. */
export const encodeBatch = ({ epoch, from, events }: FeedBatch) => JSON.stringify({ epoch, from, events });

export const encodeSignal = (signal: FeedSignal) => JSON.stringify(signal);

/** One entry for several that were encoded. */
export const joinEncoded = (encoded: Iterable<string>) => `[${[...encoded].join(',')}]`;

/** The batches of an entry; null when this version does not understand it. */
export function decodeBatches(turnId: string, text: string | undefined): FeedBatch[] | null {
  return read(batches, text)?.map((batch) => ({ turnId, ...batch })) ?? null;
}

/** The signals of an entry; null when this version does not understand it. */
export const decodeSignals = (text: string | undefined): FeedSignal[] | null => read(signals, text);
