import { builder } from '../builder.js';
import { gone } from '../found.js';
import { toUsd } from '../numbers.js';
import { ChatResponse } from './chat-response.js';
import { FinishReason } from './finish-reason.js';
import { ReachedLimit, reachedLimitOf } from './reached-limit.js';
import { TurnError, turnErrorOf } from './turn-error.js';
import { Usage, usageColumns, usageOf } from './usage.js';

export const TurnStatus = builder.enumType('TurnStatus', {
  description: 'Where a turn stands. COMPLETED, FAILED and STOPPED are final; the others count as active.',
  values: {
    QUEUED: { description: 'Accepted, but it waits for the turn before it.' },
    RUNNING: { description: 'The model is being asked, or a tool is at work.' },
    AWAITING_INPUT: { description: 'It waits for an answer of the user.' },
    COMPLETED: {
      description:
        'It came to an end of its own, with a reply or, at a limit, with what there was; finishReason says which.',
    },
    FAILED: { description: 'It has no usable reply; error says why. Text that had come is kept.' },
    STOPPED: { description: 'It was stopped by its user; text that had come is kept.' },
  } as const,
});

export const Turn = builder.prismaNode('Turn', {
  description: 'One send, stream or regenerate: the user’s message, the steps of the agent and its reply.',
  id: { field: 'id' },
  // `response` needs the status to tell whether there is one.
  select: { id: true, status: true },
  fields: (t) => ({
    session: t.relation('session', { onNull: gone, description: 'The session it belongs to.' }),
    number: t.exposeInt('number', { description: 'Position among the turns of the session, from 1.' }),
    status: t.expose('status', { type: TurnStatus, description: 'Where the turn stands.' }),
    finishReason: t.expose('finishReason', {
      type: FinishReason,
      nullable: true,
      description: 'How it came to its end; null while it is active.',
    }),
    userMessage: t.relation('userMessage', { onNull: gone, description: 'The message that started it.' }),
    messages: t.relation('messages', {
      description:
        'Everything that was said in it, in order, the user’s message included. maxHistory takes nothing away here.',
      query: { orderBy: { sequence: 'asc' } },
    }),
    response: t.variant(ChatResponse, {
      description: 'What it gave; null until it has ended or waits for input.',
      isNull: ({ status }) => status === 'QUEUED' || status === 'RUNNING',
    }),
    error: t.field({
      type: TurnError,
      nullable: true,
      description: 'Why it failed; null unless status is FAILED.',
      select: { errorCode: true, errorRetryable: true },
      resolve: ({ errorCode, errorRetryable }) => turnErrorOf(errorCode, errorRetryable),
    }),
    reachedLimit: t.field({
      type: ReachedLimit,
      nullable: true,
      description:
        'The limit that has ended it: with the finishReason BUDGET, and with the error codes BUDGET_EXCEEDED and MODEL_PRICE_UNKNOWN.',
      select: { eventLayout: true },
      resolve: ({ eventLayout }) => reachedLimitOf(eventLayout),
    }),
    usage: t.field({
      type: Usage,
      description: 'Tokens of all its model calls that have ended.',
      select: usageColumns,
      resolve: usageOf,
    }),
    costUsd: t.float({
      description: 'Cost in USD of all its model calls that have ended.',
      select: { costUsd: true },
      resolve: ({ costUsd }) => toUsd(costUsd),
    }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it began to run; null while it is queued, and for good when it was stopped there.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended; null while it is active.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was accepted.' }),
  }),
});
