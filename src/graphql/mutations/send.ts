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
      description:
        'The text: not blank, without U+0000 and half surrogate pairs, and no larger than the server allows (1 MiB of UTF-8, unless its operator has changed it).',
    }),
    images: t.stringList({
      description:
        'Images for the model to see, at most 8: https URLs of up to 2,048 characters, which are passed on as they are, or data URIs (data:image/png;base64,…) of PNG, JPEG, GIF or WebP up to 5 MiB, which are checked and stored. Null or left out: none.',
    }),
    clientMessageId: t.string({
      description:
        'An id of your own for this message, up to 255 characters, unique in the session, for example a UUID. It makes a retry safe: the same id with the same input gives the turn that is there, with other input the error IDEMPOTENCY_KEY_REUSED. Make a new one per message, and keep it when you try again.',
    }),
  }),
});

builder.mutationField('send', (t) =>
  t.prismaField({
    type: ChatResponse,
    description:
      'Sends a message and waits for the reply. A refusal is an error and leaves nothing: BAD_USER_INPUT, NOT_FOUND, SESSION_CLOSED, TURN_IN_PROGRESS, INPUT_PENDING, IDEMPOTENCY_KEY_REUSED, BUDGET_EXCEEDED, MODEL_PRICE_UNKNOWN. An accepted turn that failed is an error as well, whose extensions carry code, turnId and retryable; every other ending is a ChatResponse with its finishReason. Hanging up does not stop the turn.',
    args: { input: t.arg({ type: SendInput, required: true, description: 'The message.' }) },
    resolve: async (query, _root, { input }, context) => {
      const sessionId = idOf('ChatSession', input.sessionId, 'sessionId');
      const { turnId } = await context.chat.send(context.principal, { ...input, sessionId });
      return loadTurn(context, query, turnId);
    },
  }),
);
