import { Prisma } from '../../db/generated/prisma/client.js';
import { sharedBudgets } from '../../db/queries/shared-budgets.js';
import { batched } from '../batch.js';
import { builder } from '../builder.js';
import { globalId } from '../ids.js';
import { toSafeInt, toUsd } from '../numbers.js';
import { BudgetScope } from './budget-scope.js';

const zero = new Prisma.Decimal(0);

builder.prismaObject('Budget', {
  description:
    'A limit on money and tokens, and what is used of it. A null limit is unlimited; zero means that nothing may be spent.',
  select: { id: true },
  fields: (t) => ({
    id: t.id({
      description: 'Opaque id. Two sessions that share a budget show the same one.',
      resolve: (budget) => globalId('Budget', budget.id),
    }),
    scope: t.expose('scope', { type: BudgetScope, description: 'Whose spending it limits.' }),
    maxCostUsd: t.float({
      nullable: true,
      description: 'Most money in USD; null is unlimited.',
      select: { maxCostUsd: true },
      resolve: ({ maxCostUsd }) => maxCostUsd && toUsd(maxCostUsd),
    }),
    maxTokens: t.field({
      type: 'SafeInt',
      nullable: true,
      description: 'Most tokens, input and output together; null is unlimited.',
      select: { maxTokens: true },
      resolve: ({ maxTokens }) => (maxTokens === null ? null : toSafeInt(maxTokens)),
    }),
    spentCostUsd: t.float({
      description: 'Money spent in USD by model calls that have ended, failed and stopped ones included.',
      select: { spentCostUsd: true },
      resolve: ({ spentCostUsd }) => toUsd(spentCostUsd),
    }),
    spentTokens: t.field({
      type: 'SafeInt',
      description: 'Tokens spent by model calls that have ended.',
      select: { spentTokens: true },
      resolve: ({ spentTokens }) => toSafeInt(spentTokens),
    }),
    remainingCostUsd: t.float({
      nullable: true,
      description:
        'Money in USD that a new model call could still use: the limit without what was spent and without what running calls have reserved, never below 0. Null when unlimited.',
      select: { maxCostUsd: true, spentCostUsd: true, heldCostUsd: true },
      resolve: ({ maxCostUsd, spentCostUsd, heldCostUsd }) =>
        maxCostUsd && toUsd(Prisma.Decimal.max(maxCostUsd.minus(spentCostUsd).minus(heldCostUsd), zero)),
    }),
    remainingTokens: t.field({
      type: 'SafeInt',
      nullable: true,
      description: 'Tokens that a new model call could still use, reckoned like remainingCostUsd. Null when unlimited.',
      select: { maxTokens: true, spentTokens: true, heldTokens: true },
      resolve: ({ maxTokens, spentTokens, heldTokens }) => {
        if (maxTokens === null) {
          return null;
        }
        const left = maxTokens - spentTokens - heldTokens;
        return left > 0n ? toSafeInt(left) : 0;
      },
    }),
    shared: t.boolean({
      description: 'True when more than one session draws on it. Always true for one that the operator has set.',
      select: { scope: true },
      resolve: ({ id, scope }, _args, context, info) =>
        scope !== 'SESSION' ||
        batched<string, boolean>(context, info, 'shared', id, async (ids) => {
          const shared = await sharedBudgets(context.database.pool, ids);
          return ids.map((one) => shared.has(one));
        }),
    }),
  }),
});
