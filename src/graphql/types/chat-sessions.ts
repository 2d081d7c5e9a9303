import { checkStorable } from '../../chat/text.js';
import { isIndexableSearch, ownedSessions } from '../../db/queries/owned-sessions.js';
import { badInput } from '../../errors.js';
import { builder } from '../builder.js';
import { connectionOf } from '../connection.js';
import type { Context } from '../context.js';
import { flushBehind } from '../flush.js';
import { idOf } from '../ids.js';
import { loadSession } from '../load-session.js';
import { pageComplexity } from '../paging.js';
import { ChatSession, ChatSessionStatus } from './chat-session.js';

const maxSearchLength = 1_000;

const ChatSessionOrder = builder.enumType('ChatSessionOrder', {
  description: 'How a list of sessions is ordered. Ties are broken by id, so that no session is met twice or missed.',
  values: {
    UPDATED_AT_DESC: { description: 'Last used first.' },
    UPDATED_AT_ASC: { description: 'Longest unused first.' },
    CREATED_AT_DESC: { description: 'Newest first.' },
    CREATED_AT_ASC: { description: 'Oldest first.' },
    COST_DESC: { description: 'Most expensive first.' },
  } as const,
});

const ChatSessionFilter = builder.inputType('ChatSessionFilter', {
  description: 'Which sessions to list; all given conditions have to hold. A condition that is null filters nothing.',
  fields: (t) => ({
    status: t.field({ type: ChatSessionStatus, description: 'Only open or only closed ones.' }),
    model: t.string({ description: 'Only those with exactly this model now.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Only those created later than this.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only those created earlier than this.' }),
    search: t.string({
      description: `Full-text search over titles and over what user and model said. All words have to stand in one message or in the title, in any order and any case, as whole words; "quotation marks" keep words together, or means either, a minus in front excludes. A blank text filters nothing; one without any word to look for, or longer than ${maxSearchLength} characters, is BAD_USER_INPUT.`,
    }),
  }),
});

/** @throws ChatError BAD_USER_INPUT for a text that cannot be searched for */
async function searchOf(context: Context, text: string | null | undefined): Promise<string | null> {
  const search = text?.trim() ?? '';
  if (search === '') {
    return null;
  }
  if (search.length > maxSearchLength) {
    throw badInput(`filter.search must not be longer than ${maxSearchLength} characters.`);
  }
  checkStorable('filter.search', search);
  if (!(await isIndexableSearch(context.database.pool, search))) {
    throw badInput('filter.search needs at least one word to look for beside words to exclude.');
  }
  return search;
}

builder.queryFields((t) => ({
  chatSession: t.prismaField({
    type: ChatSession,
    nullable: true,
    description:
      'One session. While a turn runs, what it has written so far is part of the answer. NOT_FOUND when there is no such session or it is not yours; BAD_USER_INPUT when the id is not the id of a ChatSession.',
    args: { id: t.arg.id({ required: true, description: 'Id of the session.' }) },
    resolve: async (query, _root, args, context) => {
      const id = idOf('ChatSession', args.id, 'id');
      await flushBehind(context, { sessions: [id] });
      return loadSession(context, query, id);
    },
  }),
  chatSessions: t.connection({
    type: ChatSession,
    description: 'Your sessions. The order is stable: paging by cursors meets each session once.',
    args: {
      filter: t.arg({ type: ChatSessionFilter, description: 'Which ones; null lists all of yours.' }),
      orderBy: t.arg({
        type: ChatSessionOrder,
        defaultValue: 'UPDATED_AT_DESC',
        description: 'In which order. Cursors are good for the order that they came from.',
      }),
    },
    complexity: pageComplexity,
    resolve: async (_root, { filter, orderBy, ...args }, context, info) => {
      if (filter?.model != null) {
        checkStorable('filter.model', filter.model);
      }
      const search = await searchOf(context, filter?.search);
      const list = ownedSessions(context.principal, { ...filter, search }, orderBy ?? 'UPDATED_AT_DESC');
      return connectionOf(
        context,
        { sessionId: null, info },
        { list, model: 'chatSession', type: 'ChatSession' },
        args,
      );
    },
  }),
}));
