import type { SeedResult } from '../../chat/service.js';
import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadSession } from '../load-session.js';
import { ChatSession } from '../types/chat-session.js';

const SeedRole = builder.enumType('SeedRole', {
  description: 'Who speaks in a seeded message.',
  values: {
    USER: { description: 'The person.' },
    ASSISTANT: { description: 'The model.' },
    TOOL: { description: 'The result of a tool call of an assistant message in front of it.' },
    SYSTEM: { description: 'Skipped and counted: the system prompt belongs to the session.' },
  } as const,
});

const SeedToolCallInput = builder.inputType('SeedToolCallInput', {
  description: 'A tool call that an assistant message made.',
  fields: (t) => ({
    id: t.string({
      required: true,
      description:
        'The id by which a later tool message answers it, up to 255 characters, different from the others of its message.',
    }),
    name: t.string({
      required: true,
      description: 'Name of the tool: 1 to 64 letters, digits, underscores or hyphens.',
    }),
    arguments: t.field({ type: 'JSON', required: true, description: 'What the tool was given: a JSON object.' }),
  }),
});

const SeedMessageInput = builder.inputType('SeedMessageInput', {
  description:
    'An earlier message. The TOOL messages that answer the tool calls of an ASSISTANT message follow right behind it, one for each call.',
  fields: (t) => ({
    role: t.field({ type: SeedRole, required: true, description: 'Who speaks.' }),
    content: t.string({
      required: true,
      description: 'The text. It may be empty only for an assistant message with toolCalls.',
    }),
    toolCallId: t.string({ description: 'For a TOOL message, and only there: the id of the call it answers.' }),
    toolCalls: t.field({
      type: [SeedToolCallInput],
      description: 'For an ASSISTANT message, and only there: the tool calls it made, in order, at most 128.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was said; null or left out: now. Not in the future.',
    }),
  }),
});

const SeedHistoryInput = builder.inputType('SeedHistoryInput', {
  description: 'Earlier messages for a session.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'Id of the session.' }),
    messages: t.field({
      type: [SeedMessageInput],
      required: true,
      description:
        'The messages, oldest first, at most 10,000 in one call. They are put behind what the history holds.',
    }),
  }),
});

interface SeedHistoryResultShape extends SeedResult {
  readonly sessionId: string;
}

const SeedHistoryResult = builder.objectRef<SeedHistoryResultShape>('SeedHistoryResult').implement({
  description: 'What a seed added.',
  fields: (t) => ({
    session: t.prismaField({
      type: ChatSession,
      description: 'The session after the seed.',
      resolve: (query, { sessionId }, _args, context) => loadSession(context, query, sessionId),
    }),
    seededCount: t.exposeInt('seededCount', { description: 'How many messages were added.' }),
    skippedSystemCount: t.exposeInt('skippedSystemCount', {
      description: 'How many SYSTEM messages were skipped: the system prompt belongs to the session.',
    }),
    roleCounts: t.expose('roleCounts', {
      type: 'JSON',
      description: 'How many messages were added per role: an object such as {"user": 2, "assistant": 2}.',
    }),
    contentDigest: t.exposeString('contentDigest', {
      description: 'A digest of roles and contents, to compare with another seed; not a secret and not a signature.',
    }),
  }),
});

builder.mutationField('seedHistory', (t) =>
  t.field({
    type: SeedHistoryResult,
    description:
      'Adds earlier messages to the history, all or none, for example when a conversation moves here from another store. Calling it twice adds them twice; turnCount stays as it is. BAD_USER_INPUT names the first message that is not valid; NOT_FOUND, SESSION_CLOSED, TURN_IN_PROGRESS and INPUT_PENDING as for send.',
    args: { input: t.arg({ type: SeedHistoryInput, required: true, description: 'The messages.' }) },
    resolve: async (_root, { input }, { chat, principal }) => {
      const sessionId = idOf('ChatSession', input.sessionId, 'sessionId');
      const messages = input.messages.map(({ toolCalls, ...message }) => ({
        ...message,
        // TypeScript takes a field of type unknown for an optional one; the schema does not.
        toolCalls: toolCalls?.map((call) => ({ ...call, arguments: call.arguments })),
      }));
      return { ...(await chat.seedHistory(principal, sessionId, messages)), sessionId };
    },
  }),
);
