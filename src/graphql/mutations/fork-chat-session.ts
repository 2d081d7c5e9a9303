import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadSession } from '../load-session.js';
import { ChatSession } from '../types/chat-session.js';

const ForkChatSessionInput = builder.inputType('ForkChatSessionInput', {
  description: 'Which session to copy, and up to where.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'Id of the session to copy; it may be closed.' }),
    upToMessageId: t.id({
      description:
        'Id of the newest message that is copied, one of ChatSession.messages; the results of its tool calls come with it. Null or left out: the whole history, without what a turn that has not ended has written.',
    }),
    title: t.string({
      description: 'A name for lists, up to 200 characters; null or left out: that of the original; blank: none.',
    }),
    clientSessionId: t.string({
      description:
        'An id of your own for the new session, as for createChatSession. It makes a retry safe: the same id with the same input gives the session that is there. Left out, every call makes another session.',
    }),
  }),
});

builder.mutationField('forkChatSession', (t) =>
  t.prismaField({
    type: ChatSession,
    description:
      'Creates a session with the settings of another one and a copy of its history up to a message. Messages get new ids and belong to no turn; usage, cost and trace begin anew. It has a budget of its own with the same limits, or draws on the same one when the original shares its budget. Deleting one leaves the other. NOT_FOUND when the session is not yours or has no such message, BAD_USER_INPUT when the message is not in the history any more, TURN_IN_PROGRESS while its turn has not ended, IDEMPOTENCY_KEY_REUSED as said at the field.',
    args: { input: t.arg({ type: ForkChatSessionInput, required: true, description: 'What to copy.' }) },
    resolve: async (query, _root, { input }, context) => {
      const sessionId = idOf('ChatSession', input.sessionId, 'sessionId');
      const upToMessageId = input.upToMessageId == null ? null : idOf('Message', input.upToMessageId, 'upToMessageId');
      const { id } = await context.chat.forkSession(context.principal, { ...input, sessionId, upToMessageId });
      return loadSession(context, query, id);
    },
  }),
);
