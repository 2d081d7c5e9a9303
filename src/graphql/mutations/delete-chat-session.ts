import { builder } from '../builder.js';
import { idOf } from '../ids.js';

builder.mutationField('deleteChatSession', (t) =>
  t.id({
    description:
      'Deletes a session with its messages, turns, traces and images, and answers with its id. What it cost stays in Viewer.totalCostUsd. NOT_FOUND when it is not yours, TURN_IN_PROGRESS while a turn runs in it.',
    args: { id: t.arg.id({ required: true, description: 'Id of the session.' }) },
    resolve: async (_root, args, { chat, principal }) => {
      await chat.deleteSession(principal, idOf('ChatSession', args.id, 'id'));
      return args.id;
    },
  }),
);
