import { queryFromInfo } from '@pothos/plugin-prisma';
import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadTurn } from '../load-turn.js';
import { Turn } from '../types/turn.js';

builder.mutationField('stop', (t) =>
  t.field({
    type: Turn,
    nullable: true,
    description:
      'Ends the active turn of a session and answers with it once it has settled: the request to the provider is closed, the text that came is kept, what it cost is booked. Null when nothing ran. NOT_FOUND when the session is not yours.',
    args: { sessionId: t.arg.id({ required: true, description: 'Id of the session.' }) },
    resolve: async (_root, args, context, info) => {
      const stopped = await context.chat.stop(context.principal, idOf('ChatSession', args.sessionId, 'sessionId'));
      return stopped && loadTurn(context, queryFromInfo({ context, info }), stopped.turnId);
    },
  }),
);
