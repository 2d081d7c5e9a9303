import { builder } from '../builder.js';
import { idOf } from '../ids.js';

builder.mutationField('deleteChatSession', (t) =>
  t.id({
    description:
      'Deletes a session with its messages, turns, traces and images, and answers with its id. A turn that runs in it is stopped first. What it cost stays in Viewer.totalCostUsd. NOT_FOUND when it is not yours.',
    args: { id: t.arg.id({ required: true, description: 'Id of the session.' }) },
    resolve: async (_root, args, { chat, principal }) => {
      await chat.deleteSession(principal, idOf('ChatSession', args.id, 'id'));
      return args.id;
    },
  }),
);
