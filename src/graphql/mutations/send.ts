import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadTurn } from '../load-turn.js';
import { ChatResponse } from '../types/chat-response.js';

const SendInput = builder.inputType('SendInput', {
  description: 'A message to the model.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'Id of the session.' }),
    message: t.string({
      required: true,
      description: 'The text, not blank, without U+0000 and half surrogate pairs; the server limits its size.',
    }),
    images: t.stringList({
      description:
        'Images for the model to see: https URLs, which are passed on as they are, or data URIs (data:image/png;base64,…), whose bytes are checked and stored. Null or left out: none.',
    }),
    clientMessageId: t.string({
      description:
        'An id of your own for this message, up to 200 characters, unique in the session. It makes a retry safe: the same id with the same input gives the turn that is there, with other input the error IDEMPOTENCY_KEY_REUSED. Make a new one per message, and keep it when you try again.',
    }),
  }),
});

builder.mutationField('send', (t) =>
  t.prismaField({
    type: ChatResponse,
    description:
      'Sends a message and waits for the reply. A refusal is an error and leaves nothing: BAD_USER_INPUT, NOT_FOUND, SESSION_CLOSED, TURN_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, BUDGET_EXCEEDED, MODEL_PRICE_UNKNOWN. An accepted turn that failed is an error as well, whose extensions carry code, turnId and retryable; every other ending is a ChatResponse with its finishReason. Hanging up does not stop the turn.',
    args: { input: t.arg({ type: SendInput, required: true, description: 'The message.' }) },
    resolve: async (query, _root, { input }, context) => {
      const sessionId = idOf('ChatSession', input.sessionId, 'sessionId');
      const { turnId } = await context.chat.send(context.principal, { ...input, sessionId });
      return loadTurn(context, query, turnId);
    },
  }),
);
