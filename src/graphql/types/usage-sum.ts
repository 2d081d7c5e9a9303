import { Prisma } from '../../db/generated/prisma/client.js';
import {
  type UsageQuery,
  type UsageSum as UsageSumShape,
  usageOfCaller,
  usageOfSessions,
} from '../../db/queries/usage-sums.js';
import { badInput } from '../../errors.js';
import { batched } from '../batch.js';
import { builder } from '../builder.js';
import { toUsd } from '../numbers.js';
import { ChatSession } from './chat-session.js';
import { Usage, usageOf } from './usage.js';
import { Viewer } from './viewer.js';

const dayMs = 86_400_000;
const usualDays = 30;
const mostDays = 366;

const UsageDimension = builder.enumType('UsageDimension', {
  description: 'What usage can be summed by.',
  values: {
    DAY: {
      description: 'A sum for each day, from midnight to midnight in UTC, by the moment at which a call was made.',
    },
    MODEL: { description: 'A sum for each model.' },
  } as const,
});

const UsageSum = builder.objectRef<UsageSumShape>('UsageSum').implement({
  description: 'Model calls summed up: those of a day, of a model, of a model on a day, or all of a range of time.',
  fields: (t) => ({
    day: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The midnight in UTC with which the day begins; null when not summed by DAY.',
      resolve: ({ day }) => day,
    }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'Id of the model, also of one that is not offered any more; null when not summed by MODEL.',
    }),
    calls: t.exposeInt('calls', {
      description:
        'How many requests to the provider there were, failed, repeated and stopped ones included. A turn makes one or more.',
    }),
    usage: t.field({ type: Usage, description: 'Tokens of these calls, by kind.', resolve: usageOf }),
    costUsd: t.float({
      description:
        'Cost of these calls in USD, at the prices that held when they were made; 0 for those of a model whose price was unknown.',
      resolve: ({ costUsd }) => toUsd(new Prisma.Decimal(costUsd)),
    }),
  }),
});

const args = builder.args((t) => ({
  by: t.field({
    type: [UsageDimension],
    required: true,
    defaultValue: ['DAY', 'MODEL'],
    description: 'What to sum by: both gives a sum for each model on each day, an empty list one sum of everything.',
  }),
  from: t.field({
    type: 'DateTime',
    description: `Only calls made at this moment or later. Left out or null: ${usualDays} days before to.`,
  }),
  to: t.field({ type: 'DateTime', description: 'Only calls made before this moment. Left out or null: now.' }),
}));

interface Arguments {
  readonly by: readonly ('DAY' | 'MODEL')[];
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

/** @throws ChatError BAD_USER_INPUT for a time that ends before it begins, or is too long. */
function toQuery({ by, from, to }: Arguments): UsageQuery {
  const end = to ?? new Date();
  const begin = from ?? new Date(end.getTime() - usualDays * dayMs);
  const days = (end.getTime() - begin.getTime()) / dayMs;
  if (days < 0) throw badInput('from lies behind to: give a time that begins before it ends.');
  if (days > mostDays) throw badInput(`from and to are more than ${mostDays} days apart: ask for less at a time.`);
  return { byDay: by.includes('DAY'), byModel: by.includes('MODEL'), from: begin, to: end };
}

/** A sum counts as a few days of a few models in the complexity of an operation: how many there are is unknown. */
const complexity = { field: 10, multiplier: 20 };
const range = `Calls that are still under way are not in it. Oldest day first, then by model; what has no calls is left out, so the list may be empty. A range that is longer than ${mostDays} days, or ends before it begins, is BAD_USER_INPUT.`;

builder.objectField(Viewer, 'usageBy', (t) =>
  t.field({
    type: [UsageSum],
    description: `What all your model calls have used and cost in a range of time, those of deleted sessions included. ${range}`,
    args,
    complexity,
    resolve: ({ principal }, given, { database }) => usageOfCaller(database.pool, principal, toQuery(given)),
  }),
);

builder.prismaObjectField(ChatSession, 'usageBy', (t) =>
  t.field({
    type: [UsageSum],
    description: `What the model calls of this session have used and cost in a range of time. ${range}`,
    args,
    complexity,
    resolve: ({ id }, given, context, info) => {
      const query = toQuery(given);
      return batched<string, UsageSumShape[]>(context, info, 'usage', id, async (ids) => {
        const sums = await usageOfSessions(context.database.pool, ids, query);
        return ids.map((one) => sums.filter(({ sessionId }) => sessionId === one));
      });
    },
  }),
);
