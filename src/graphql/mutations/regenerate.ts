import { builder } from '../builder.js';
import { endedTurn } from '../ended-turn.js';
import { idOf } from '../ids.js';
import { ChatResponse } from '../types/chat-response.js';

const RegenerateInput = builder.inputType('RegenerateInput', {
  description: 'Which session is to reply once more.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'Id of the session.' }),
    clientMessageId: t.string({
      description:
        'An id of your own for the new user message, as for send: not the one of the message that is run again. It makes a retry safe: the same id gives the turn that is there; one that a send has used gives the error IDEMPOTENCY_KEY_REUSED.',
    }),
  }),
});

builder.mutationField('regenerate', (t) =>
  t.prismaField({
    type: ChatResponse,
    description:
      "Runs the last turn's user message again, as a new turn with a copy of message and images, and waits for the reply. The messages of the last turn leave the history and stay readable in it; what it cost stays booked. It is also the retry of a turn that failed or was stopped. Refusals and failures as for send; BAD_USER_INPUT when no turn has run yet, or messages were seeded behind the last one.",
    args: { input: t.arg({ type: RegenerateInput, required: true, description: 'The session.' }) },
    resolve: async (query, _root, { input }, context) => {
      const sessionId = idOf('ChatSession', input.sessionId, 'sessionId');
      const { turnId, stored } = await context.chat.regenerate(context.principal, { ...input, sessionId });
      return endedTurn(context, query, turnId, stored);
    },
  }),
);
