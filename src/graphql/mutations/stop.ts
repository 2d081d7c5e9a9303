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
      'Ends the active turn of a session and its queue, and answers once they have settled: the request to the provider is closed, the text that came is kept, what it cost is booked; a queued turn never runs. The answer is the active turn, or else the first of the queue: its status is STOPPED, or another one when it had just come to its own end. Null when there was nothing to end. NOT_FOUND when the session is not yours or has no such turn.',
    args: {
      sessionId: t.arg.id({ required: true, description: 'Id of the session.' }),
      turnId: t.arg.id({ description: 'Only this turn of it, queued or active. Left out or null: all of them.' }),
    },
    resolve: async (_root, args, context, info) => {
      const sessionId = idOf('ChatSession', args.sessionId, 'sessionId');
      const turnId = args.turnId == null ? null : idOf('Turn', args.turnId, 'turnId');
      const stopped = await context.chat.stop(context.principal, sessionId, turnId);
      return stopped && loadTurn(context, queryFromInfo({ context, info }), stopped.turnId);
    },
  }),
);
