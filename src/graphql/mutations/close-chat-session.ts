import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadSession } from '../load-session.js';
import { ChatSession } from '../types/chat-session.js';

builder.mutationField('closeChatSession', (t) =>
  t.prismaField({
    type: ChatSession,
    description:
      'Closes a session for good: it can still be read and deleted. A turn that runs in it comes to its end, those in its queue are stopped. Closing a closed one changes nothing. NOT_FOUND when it is not yours.',
    args: { id: t.arg.id({ required: true, description: 'Id of the session.' }) },
    resolve: async (query, _root, args, context) => {
      const id = idOf('ChatSession', args.id, 'id');
      await context.chat.closeSession(context.principal, id);
      return loadSession(context, query, id);
    },
  }),
);
