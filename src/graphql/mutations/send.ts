import { builder } from '../builder.js';
import { endedTurn } from '../ended-turn.js';
import { idOf } from '../ids.js';
import { messageOptions } from '../message-options.js';
import { ChatResponse } from '../types/chat-response.js';

const SendInput = builder.inputType('SendInput', {
  description: 'A message to the model.',
  fields: (t) => ({
    sessionId: t.id(messageOptions.sessionId),
    message: t.string(messageOptions.message),
    images: t.stringList(messageOptions.images),
    clientMessageId: t.string({
      description:
        'An id of your own for this message, up to 255 characters, unique in the session, for example a UUID. It makes a retry safe: the same id with the same input gives the turn that is there, with other input the error IDEMPOTENCY_KEY_REUSED. Make a new one per message, and keep it when you try again.',
    }),
    whenBusy: t.field(messageOptions.whenBusy),
  }),
});

builder.mutationField('send', (t) =>
  t.prismaField({
    type: ChatResponse,
    description:
      'Sends a message and waits for the reply. A refusal is an error and leaves nothing: BAD_USER_INPUT, NOT_FOUND, SESSION_CLOSED, TURN_IN_PROGRESS, INPUT_PENDING, IDEMPOTENCY_KEY_REUSED, BUDGET_EXCEEDED, MODEL_PRICE_UNKNOWN. An accepted turn that failed is an error as well, whose extensions carry code, turnId and retryable; every other ending is a ChatResponse with its finishReason. With whenBusy ENQUEUE it waits for the turns before it as well. Hanging up does not stop the turn.',
    args: { input: t.arg({ type: SendInput, required: true, description: 'The message.' }) },
    resolve: async (query, _root, { input }, context) => {
      const sessionId = idOf('ChatSession', input.sessionId, 'sessionId');
      const { turnId, stored } = await context.chat.send(context.principal, { ...input, sessionId });
      return endedTurn(context, query, turnId, stored);
    },
  }),
);
