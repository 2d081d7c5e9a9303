import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { messageOptions } from '../message-options.js';
import { StreamEvent } from '../types/stream-event.js';

const StreamInput = builder.inputType('StreamInput', {
  description: 'A message to the model whose reply is to be streamed.',
  fields: (t) => ({
    sessionId: t.id(messageOptions.sessionId),
    message: t.string(messageOptions.message),
    images: t.stringList(messageOptions.images),
    clientMessageId: t.string({
      description:
        'An id of your own for this message, up to 255 characters, unique in the session, for example a UUID. Subscribing again with the same id and input follows the turn that is there instead of starting one; other input is IDEMPOTENCY_KEY_REUSED. Without one, a WebSocket client that re-subscribes after a lost connection is recognised by its subscription id when that is a UUID, as with graphql-ws.',
    }),
    whenBusy: t.field(messageOptions.whenBusy),
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
      'Sends a message and streams the turn: TurnStarted, then deltas as the model writes, then exactly one of TurnCompleted, TurnFailed, TurnStopped. Nothing comes while the turn waits in the queue. Refusals are errors as for send and leave nothing. Unsubscribing does not stop the turn: use stop for that, and turnEvents to come back.',
    args: { input: t.arg({ type: StreamInput, required: true, description: 'The message.' }) },
    subscribe: (_root, { input: { after, ...message } }, { chat, principal, operationId }) => {
      const sessionId = idOf('ChatSession', message.sessionId, 'sessionId');
      return chat.stream(principal, { ...message, sessionId, operationId }, after);
    },
    resolve: (event) => event,
  }),
);
