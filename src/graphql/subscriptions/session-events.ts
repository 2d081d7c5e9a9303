import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { StreamEvent } from '../types/stream-event.js';

builder.subscriptionField('sessionEvents', (t) =>
  t.field({
    type: StreamEvent,
    description:
      'Follows every turn of a session, one after the other: the active turn from its start, then each turn as it begins, whoever started it. Between turns it waits; it ends when the session is deleted. A turn that was stopped while it was queued does not appear. NOT_FOUND when the session is not yours, BAD_USER_INPUT for a malformed id or cursor.',
    args: {
      sessionId: t.arg.id({ required: true, description: 'Id of the session.' }),
      after: t.arg.string({
        description:
          'Cursor of the last event you have, of any turn of this session: only what lies behind it comes, through all turns since. Left out: from the start of the active turn, or the next one.',
      }),
    },
    subscribe: (_root, { sessionId, after }, { chat, principal }) =>
      chat.sessionEvents(principal, idOf('ChatSession', sessionId, 'sessionId'), after),
    resolve: (event) => event,
  }),
);
