import { builder } from '../builder.js';
import { toUsd } from '../numbers.js';
import { TurnError, turnErrorOf } from './turn-error.js';
import { Usage, usageColumns, usageOf } from './usage.js';

export const ModelCallPurpose = builder.enumType('ModelCallPurpose', {
  description: 'What a model call was made for.',
  values: {
    ANSWER: { description: 'A step of a turn.' },
    SUMMARY: { description: 'Shortening of older messages so that the prompt fits into the window.' },
    TITLE: { description: 'Finding a title for the session.' },
  } as const,
});

export const ModelCall = builder.prismaNode('ModelCall', {
  description:
    'One request to the model provider: a row of the ledger, written before the request goes out. The rows of a session add up to its totals.',
  id: { field: 'id' },
  select: { id: true },
  fields: (t) => ({
    turn: t.relation('turn', {
      nullable: true,
      description: 'The turn it was made for; null for a call outside of a turn, and once the session was deleted.',
    }),
    step: t.exposeInt('step', {
      nullable: true,
      description: 'Step of the turn, from 1; null outside of a turn. A retried step has one call per attempt.',
    }),
    purpose: t.expose('purpose', { type: ModelCallPurpose, description: 'What it was made for.' }),
    model: t.exposeString('model', { description: 'Id of the model that was asked.' }),
    usage: t.field({
      type: Usage,
      description: 'Its tokens; zero while it runs.',
      select: usageColumns,
      resolve: usageOf,
    }),
    costUsd: t.float({
      description: 'Its cost in USD at the prices of its time; zero while it runs.',
      select: { costUsd: true },
      resolve: ({ costUsd }) => toUsd(costUsd),
    }),
    latencyMs: t.exposeInt('latencyMs', {
      nullable: true,
      description: 'From the request to the end of the answer, in milliseconds; null while it runs.',
    }),
    timeToFirstTokenMs: t.exposeInt('timeToFirstTokenMs', {
      nullable: true,
      description: 'From the request to the first piece of text, in milliseconds; null when none came.',
    }),
    error: t.field({
      type: TurnError,
      nullable: true,
      description: 'Why it failed; null when it did not.',
      select: { errorCode: true, errorRetryable: true },
      resolve: ({ errorCode, errorRetryable }) => turnErrorOf(errorCode, errorRetryable),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the request went out.' }),
  }),
});
