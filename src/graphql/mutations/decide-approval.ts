import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadTurn } from '../load-turn.js';
import { Turn } from '../types/turn.js';

const DecideApprovalInput = builder.inputType('DecideApprovalInput', {
  description: 'Whether a tool call may be run.',
  fields: (t) => ({
    requestId: t.id({ required: true, description: 'Id of the ToolApproval.' }),
    approved: t.boolean({
      required: true,
      description: 'True runs the call, exactly as it was shown; false ends it as DENIED.',
    }),
    reason: t.string({
      description:
        'Why it is not allowed, up to 4,000 bytes of UTF-8: the model is told. Without meaning when approved.',
    }),
  }),
});

builder.mutationField('decideApproval', (t) =>
  t.prismaField({
    type: Turn,
    description:
      'Allows a tool call, or does not, and lets its turn go on; it answers as soon as that is stored, and the rest comes by turnEvents. Exactly one decision counts: INPUT_ALREADY_RESOLVED for every other one and for a request that a stop has closed, INPUT_EXPIRED after expiresAt, NOT_FOUND when the request is not yours, BAD_USER_INPUT for a request of another kind or a reason that is too long.',
    args: { input: t.arg({ type: DecideApprovalInput, required: true, description: 'The decision.' }) },
    resolve: async (query, _root, { input }, context) => {
      const requestId = idOf('InputRequest', input.requestId, 'requestId');
      const { turnId } = await context.chat.decideApproval(context.principal, { ...input, requestId });
      return loadTurn(context, query, turnId);
    },
  }),
);
