import { builder } from '../builder.js';

export const BudgetScope = builder.enumType('BudgetScope', {
  description: 'Whose spending a budget limits.',
  values: {
    SESSION: { description: 'That of a session, or of the sessions that share it. Its owner sets it.' },
    OWNER: { description: 'That of all sessions of one caller. The operator of the server sets it.' },
    TENANT: { description: 'That of all sessions of a tenant. The operator of the server sets it.' },
  } as const,
});
