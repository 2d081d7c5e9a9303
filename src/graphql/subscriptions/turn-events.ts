import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { StreamEvent } from '../types/stream-event.js';

builder.subscriptionField('turnEvents', (t) =>
  t.field({
    type: StreamEvent,
    description:
      'Follows one turn: what was written so far, then live, then the end. For a turn that has ended it gives the whole turn at once. NOT_FOUND when it is not yours, BAD_USER_INPUT for a malformed id or cursor.',
    args: {
      turnId: t.arg.id({ required: true, description: 'Id of the turn, from any of its events.' }),
      after: t.arg.string({
        description:
          'Cursor of the last event you have; only what lies behind it comes. Left out: the turn from its start.',
      }),
    },
    subscribe: (_root, { turnId, after }, { chat, principal }) =>
      chat.turnEvents(principal, idOf('Turn', turnId, 'turnId'), after),
    resolve: (event) => event,
  }),
);
