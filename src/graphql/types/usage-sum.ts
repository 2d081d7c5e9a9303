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
  description: 'By what usage is summed.',
  values: {
    DAY: { description: 'By the day on which a call was made, in UTC.' },
    MODEL: { description: 'By the model that was called.' },
  } as const,
});

const UsageSum = builder.objectRef<UsageSumShape>('UsageSum').implement({
  description: 'The model calls of one day, of one model, or of both, summed up.',
  fields: (t) => ({
    day: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Beginning of the day in UTC; null when not summed by day.',
      resolve: ({ day }) => day,
    }),
    model: t.exposeString('model', { nullable: true, description: 'The model; null when not summed by model.' }),
    calls: t.exposeInt('calls', { description: 'How many calls there were, failed and stopped ones included.' }),
    usage: t.field({ type: Usage, description: 'Their tokens.', resolve: usageOf }),
    costUsd: t.float({
      description: 'Their cost in USD, at the prices that held when they were made.',
      resolve: ({ costUsd }) => toUsd(new Prisma.Decimal(costUsd)),
    }),
  }),
});

const args = builder.args((t) => ({
  by: t.field({
    type: [UsageDimension],
    required: true,
    defaultValue: ['DAY', 'MODEL'],
    description: 'By what to sum; an empty list gives one sum of all.',
  }),
  from: t.field({
    type: 'DateTime',
    description: `Calls made from this moment on; null or left out: ${usualDays} days before to.`,
  }),
  to: t.field({ type: 'DateTime', description: 'Calls made before this moment; null or left out: now.' }),
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
const range = `Oldest day first; days and models without calls are left out. At most ${mostDays} days, else BAD_USER_INPUT.`;

builder.objectField(Viewer, 'usageBy', (t) =>
  t.field({
    type: [UsageSum],
    description: `What all your model calls have used, those of deleted sessions included. ${range}`,
    args,
    complexity,
    resolve: ({ principal }, given, { database }) => usageOfCaller(database.pool, principal, toQuery(given)),
  }),
);

builder.prismaObjectField(ChatSession, 'usageBy', (t) =>
  t.field({
    type: [UsageSum],
    description: `What the model calls of this session have used. ${range}`,
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
