import { builder } from '../builder.js';

export const BudgetInput = builder.inputType('BudgetInput', {
  description:
    'Limits on what may be spent. Left out: the default of the server, or, in a change, what is there. Null is unlimited; 0 allows nothing.',
  fields: (t) => ({
    maxCostUsd: t.float({ description: 'Most money in USD, with up to 12 decimal places; not negative.' }),
    maxTokens: t.field({ type: 'SafeInt', description: 'Most tokens, input and output together; not negative.' }),
  }),
});
