import { builder } from '../builder.js';

export const BudgetScope = builder.enumType('BudgetScope', {
  description: 'Whose spending a budget limits.',
  values: {
    SESSION: {
      description:
        'That of a session, or of the sessions that share it. Their owner sets it, with createChatSession and updateChatSession.',
    },
    OWNER: {
      description:
        'That of all sessions of one caller together: Viewer.budget. Only the operator of the server sets it.',
    },
    TENANT: {
      description:
        'That of all callers of a tenant together: Viewer.tenantBudget. Only the operator of the server sets it.',
    },
  } as const,
});
