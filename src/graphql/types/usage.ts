import type { StepUsage } from '../../events/event.js';
import { builder } from '../builder.js';
import { toSafeInt } from '../numbers.js';

/** The columns that make a Usage, in sessions, turns and model calls alike. */
export const usageColumns = {
  inputTokens: true,
  cachedInputTokens: true,
  outputTokens: true,
  reasoningTokens: true,
  usageEstimated: true,
} as const;

interface UsageRow {
  readonly inputTokens: bigint;
  readonly cachedInputTokens: bigint;
  readonly outputTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly usageEstimated: boolean;
}

export const usageOf = (row: UsageRow): StepUsage => ({
  inputTokens: toSafeInt(row.inputTokens),
  cachedInputTokens: toSafeInt(row.cachedInputTokens),
  outputTokens: toSafeInt(row.outputTokens),
  reasoningTokens: toSafeInt(row.reasoningTokens),
  estimated: row.usageEstimated,
});

export const totalTokensOf = (row: Pick<UsageRow, 'inputTokens' | 'outputTokens'>): number =>
  toSafeInt(row.inputTokens + row.outputTokens);

export const Usage = builder.objectRef<StepUsage>('Usage').implement({
  description: 'Token counts, as the model provider reported them.',
  fields: (t) => ({
    inputTokens: t.expose('inputTokens', {
      type: 'SafeInt',
      description: 'Tokens of the prompts, those from the provider’s cache included.',
    }),
    cachedInputTokens: t.expose('cachedInputTokens', {
      type: 'SafeInt',
      description: 'The part of inputTokens that came from the provider’s cache, usually at a lower price.',
    }),
    outputTokens: t.expose('outputTokens', {
      type: 'SafeInt',
      description: 'Tokens that the model wrote, its reasoning included.',
    }),
    reasoningTokens: t.expose('reasoningTokens', {
      type: 'SafeInt',
      description: 'The part of outputTokens that the model spent on reasoning.',
    }),
    totalTokens: t.field({
      type: 'SafeInt',
      description: 'inputTokens plus outputTokens.',
      resolve: (usage) => usage.inputTokens + usage.outputTokens,
    }),
    estimated: t.exposeBoolean('estimated', {
      description: 'True when some of it was estimated by this server, because the provider reported nothing usable.',
    }),
  }),
});
