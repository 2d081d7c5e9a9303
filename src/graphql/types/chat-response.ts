import type { Prisma } from '../../db/generated/prisma/client.js';
import type { FinishReason as FinishReasonValue, TurnStatus } from '../../db/generated/prisma/enums.js';
import type { ContextReport as ContextReportValue } from '../../events/context-report.js';
import { builder } from '../builder.js';
import { gone } from '../found.js';
import { toUsd } from '../numbers.js';
import { ContextReport } from './context-report.js';
import { FinishReason } from './finish-reason.js';
import { InputRequest } from './input-request.js';
import { totalTokensOf, Usage, usageColumns, usageOf } from './usage.js';

/** The oldest open request among those of a turn. */
const oldestPending = {
  where: { status: 'PENDING' },
  orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  take: 1,
} as const satisfies Prisma.Turn$inputRequestsArgs;

/** How a turn without a stored reason ended. A response exists only for the states on the left. */
const reasonOf: Record<TurnStatus, FinishReasonValue> = {
  QUEUED: 'ERROR',
  RUNNING: 'ERROR',
  AWAITING_INPUT: 'INPUT_REQUIRED',
  COMPLETED: 'STOP',
  FAILED: 'ERROR',
  STOPPED: 'STOPPED',
};

/** The same row as its Turn, seen as what it gave. */
export const ChatResponse = builder.prismaObject('Turn', {
  variant: 'ChatResponse',
  description: 'What one turn gave: the reply and what it used.',
  select: { id: true, status: true },
  fields: (t) => ({
    content: t.string({
      description:
        'Text of the last message of the model that has one. Empty when the turn ended before its first word; cut when finishReason is neither STOP nor INPUT_REQUIRED.',
      select: { finalMessage: { select: { content: true } } },
      resolve: ({ finalMessage }) => finalMessage?.content ?? '',
    }),
    toolCallsMade: t.exposeInt('toolCallsMade', { description: 'How many tool calls the turn made.' }),
    tokensUsed: t.field({
      type: 'SafeInt',
      description: 'Tokens of all model calls of the turn, input and output together.',
      select: { inputTokens: true, outputTokens: true },
      resolve: totalTokensOf,
    }),
    costUsd: t.float({
      description: 'Cost in USD of all model calls of the turn.',
      select: { costUsd: true },
      resolve: ({ costUsd }) => toUsd(costUsd),
    }),
    usage: t.field({
      type: Usage,
      description: 'Tokens of all model calls of the turn, by kind.',
      select: usageColumns,
      resolve: usageOf,
    }),
    finishReason: t.field({
      type: FinishReason,
      description: 'How the turn came to its end.',
      select: { finishReason: true },
      resolve: ({ finishReason, status }) => finishReason ?? reasonOf[status],
    }),
    pendingInput: t.field({
      type: InputRequest,
      nullable: true,
      description:
        'What the turn asks of its user, the oldest when it asks several things; answer it and the same turn goes on. Null unless finishReason is INPUT_REQUIRED.',
      select: (_args, _context, nestedSelection) => ({
        status: true,
        inputRequests: nestedSelection(oldestPending),
      }),
      resolve: ({ status, inputRequests }) => (status === 'AWAITING_INPUT' ? (inputRequests[0] ?? null) : null),
    }),
    contextReport: t.field({
      type: ContextReport,
      nullable: true,
      description: 'How the prompt of its last model call was made up; null when the model was not asked.',
      select: { contextReport: true },
      resolve: ({ contextReport }) => contextReport as ContextReportValue | null,
    }),
    message: t.relation('finalMessage', {
      nullable: true,
      description:
        'The stored message, with the id that the events of the stream carried; null when the turn ended before its first word.',
    }),
    turn: t.variant('Turn', { description: 'The turn that gave it.' }),
    session: t.relation('session', { onNull: gone, description: 'The session, with the totals after this turn.' }),
  }),
});
