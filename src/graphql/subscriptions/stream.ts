import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { StreamEvent } from '../types/stream-event.js';

const StreamInput = builder.inputType('StreamInput', {
  description: 'A message to the model whose reply is to be streamed.',
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
        'An id of your own for this message, up to 200 characters, unique in the session. Subscribing again with the same id and input follows the turn that is there instead of starting one; other input is IDEMPOTENCY_KEY_REUSED. Without one, WebSocket clients that re-subscribe after a lost connection are recognised by their subscription id.',
    }),
    after: t.string({
      description:
        'When re-subscribing with the same clientMessageId: cursor of the last event you have; only what lies behind it comes. Left out: the turn from its start.',
    }),
  }),
});

builder.subscriptionField('stream', (t) =>
  t.field({
    type: StreamEvent,
    description:
      'Sends a message and streams the turn: TurnStarted, then deltas as the model writes, then exactly one of TurnCompleted, TurnFailed, TurnStopped. Refusals are errors as for send and leave nothing. Unsubscribing does not stop the turn: use stop for that, and turnEvents to come back.',
    args: { input: t.arg({ type: StreamInput, required: true, description: 'The message.' }) },
    subscribe: (_root, { input: { after, ...message } }, { chat, principal, operationId }) => {
      const sessionId = idOf('ChatSession', message.sessionId, 'sessionId');
      return chat.stream(principal, { ...message, sessionId, operationId }, after);
    },
    resolve: (event) => event,
  }),
);
