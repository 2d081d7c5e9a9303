import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { StreamEvent } from '../types/stream-event.js';

const StreamInput = builder.inputType('StreamInput', {
  description: 'A message to the model whose reply is to be streamed.',
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
        'An id of your own for this message, up to 255 characters, unique in the session, for example a UUID. Subscribing again with the same id and input follows the turn that is there instead of starting one; other input is IDEMPOTENCY_KEY_REUSED. Without one, a WebSocket client that re-subscribes after a lost connection is recognised by its subscription id when that is a UUID, as with graphql-ws.',
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
