import type { Principal } from '../../auth/principal.js';
import { Prisma } from '../../db/generated/prisma/client.js';
import { countSessions, type Spending, spendingOf } from '../../db/queries/spending.js';
import { builder } from '../builder.js';
import { toUsd } from '../numbers.js';

/** The caller, with a sum over the ledger that is made once, and only when one of its fields is selected. */
interface ViewerShape {
  readonly principal: Principal;
  readonly spending: () => Promise<Spending>;
}

export const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: 'The caller: who the server takes you for, and what you have spent.',
  fields: (t) => ({
    budget: t.prismaField({
      type: 'Budget',
      nullable: true,
      description:
        'The limit that the operator has set on what all of your sessions may spend together, with what they have spent so far, deleted ones included. The budgets of the sessions hold beside it. Null when there is none.',
      resolve: (query, { principal }, _args, { database }) =>
        database.prisma.budget.findFirst({ ...query, where: { ...principal, scope: 'OWNER' } }),
    }),
    tenantBudget: t.prismaField({
      type: 'Budget',
      nullable: true,
      description:
        'The limit that the operator has set on what all callers of your tenant may spend together, with what they have spent so far; without a tenant, all callers without one. Null when there is none.',
      resolve: (query, { principal: { tenant } }, _args, { database }) =>
        database.prisma.budget.findFirst({ ...query, where: { tenant, scope: 'TENANT' } }),
    }),
    id: t.id({
      description: 'Who you are: the subject of your token, or local on a server without authentication.',
      resolve: ({ principal }) => principal.owner,
    }),
    tenant: t.string({
      nullable: true,
      description: 'The tenant that your token names; null without one.',
      resolve: ({ principal }) => principal.tenant || null,
    }),
    sessionCount: t.int({
      description: 'How many sessions you have, closed ones included.',
      resolve: ({ principal }, _args, { database }) => countSessions(database.pool, principal),
    }),
    totalTokens: t.field({
      type: 'SafeInt',
      description: 'Tokens of all your model calls, those of deleted sessions included.',
      resolve: async ({ spending }) => (await spending()).totalTokens,
    }),
    totalCostUsd: t.float({
      description: 'Cost in USD of all your model calls, those of deleted sessions included.',
      resolve: async ({ spending }) => toUsd(new Prisma.Decimal((await spending()).totalCostUsd)),
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'The caller.',
    resolve: (_root, _args, { principal, database }) => {
      let sum: Promise<Spending> | undefined;
      const spending = () => {
        sum ??= spendingOf(database.pool, principal);
        return sum;
      };
      return { principal, spending };
    },
  }),
);
