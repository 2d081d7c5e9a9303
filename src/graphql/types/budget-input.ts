import { builder } from '../builder.js';

export const BudgetInput = builder.inputType('BudgetInput', {
  description:
    'Limits on what may be spent. Left out: the default of the server, or, in a change, what is there. Null is unlimited; 0 allows nothing.',
  fields: (t) => ({
    maxCostUsd: t.float({ description: 'Most money in USD, 0 to 1,000,000,000, with up to 12 decimal places.' }),
    maxTokens: t.field({ type: 'SafeInt', description: 'Most tokens, input and output together, from 0.' }),
  }),
});
