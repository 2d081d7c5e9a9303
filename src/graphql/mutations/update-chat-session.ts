import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadSession } from '../load-session.js';
import { BudgetInput } from '../types/budget-input.js';
import { ChatSession } from '../types/chat-session.js';

const UpdateChatSessionInput = builder.inputType('UpdateChatSessionInput', {
  description:
    'Which settings to change. A field that is left out stays as it is; null sets it back to its default. What holds from the next turn on also holds for the rest of a turn that waits for its user, or that another server takes over.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Id of the session.' }),
    title: t.string({ description: 'A name for lists, up to 200 characters; null or blank takes it away.' }),
    systemPrompt: t.string({
      description:
        'What the model is told, from the next turn on; an empty text: nothing. Null: the usual sentence (You are a helpful assistant).',
    }),
    model: t.string({ description: 'Id of one of Query.models; holds from the next turn on. Null: the default one.' }),
    maxHistory: t.int({
      description: 'Most messages that stay in the history, from the next turn on; null keeps all, 0 keeps none.',
    }),
    maxStepsPerTurn: t.int({
      description: 'Most model calls of one turn, 1 to 100, from the next turn on; null: 10.',
    }),
    budget: t.field({
      type: BudgetInput,
      description:
        'New limits; what was spent stays spent. They hold for all sessions that share the budget. A limit that is left out stays; null: those of a new session.',
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'Replaces all metadata, at most 64 KiB as JSON; null takes it away.',
    }),
  }),
});

builder.mutationField('updateChatSession', (t) =>
  t.prismaField({
    type: ChatSession,
    description:
      'Changes settings of a session, all or none of them. NOT_FOUND when it is not yours, SESSION_CLOSED when it was closed, BAD_USER_INPUT and MODEL_PRICE_UNKNOWN as for createChatSession.',
    args: { input: t.arg({ type: UpdateChatSessionInput, required: true, description: 'The changes.' }) },
    resolve: async (query, _root, { input }, context) => {
      const id = idOf('ChatSession', input.id, 'id');
      await context.chat.updateSession(context.principal, { ...input, id });
      return loadSession(context, query, id);
    },
  }),
);
