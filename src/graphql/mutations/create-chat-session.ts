import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadSession } from '../load-session.js';
import { BudgetInput } from '../types/budget-input.js';
import { ChatSession } from '../types/chat-session.js';

const ClientToolInput = builder.inputType('ClientToolInput', {
  description: 'A tool that the client runs.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description:
        '1 to 64 letters, digits, underscores and hyphens; not that of another tool, nor ask_user, find_tools, recall or pin.',
    }),
    description: t.string({
      required: true,
      description: 'For the model: what it does and when to use it, up to 4,096 bytes of UTF-8, not blank.',
    }),
    parameters: t.field({
      type: 'JSON',
      required: true,
      description:
        'JSON Schema (2020-12, or draft-07 by $schema) of its arguments, with the type object and up to 16 KiB. The server checks every call by it before you see it, but for pattern and format. $ref is not taken.',
    }),
  }),
});

const CreateChatSessionInput = builder.inputType('CreateChatSessionInput', {
  description: 'The settings of a new session. Everything has a default.',
  fields: (t) => ({
    clientSessionId: t.string({
      description:
        'An id of your own, up to 255 characters, unique among your sessions, for example a UUID. It makes a retry safe: the same id with the same input gives the session that is there, with other input the error IDEMPOTENCY_KEY_REUSED.',
    }),
    title: t.string({ description: 'A name for lists, up to 200 characters; null, left out or blank: none.' }),
    systemPrompt: t.string({
      description:
        'What the model is told in front of the conversation; an empty text: nothing. Null or left out: the usual sentence (You are a helpful assistant).',
    }),
    model: t.string({
      description:
        'Id of one of Query.models; null or left out: the default one. A model without prices needs budget.maxCostUsd: null, or the answer is MODEL_PRICE_UNKNOWN.',
    }),
    maxHistory: t.int({
      description:
        'Most messages that stay in the history after a turn; 0 to 1,000,000, where 0 keeps none; null or left out keeps all. The oldest go first, a tool call always together with its result.',
    }),
    maxStepsPerTurn: t.int({ description: 'Most model calls that one turn may make, 1 to 100; null or left out: 10.' }),
    budget: t.field({
      type: BudgetInput,
      description: 'What the session may spend; null or left out: the default of the server.',
    }),
    shareBudgetOf: t.id({
      description: 'Id of another session of yours: draw on its budget instead of an own one. Excludes budget.',
    }),
    tools: t.stringList({
      description:
        'Names of Query.tools that the model may call, up to 500. Null or left out: all of them, but for recall and pin, which have to be named. An empty list: none; ask_user too is only there when a list names it. A name that the server does not have is BAD_USER_INPUT.',
    }),
    clientTools: t.field({
      type: [ClientToolInput],
      description:
        'Tools that you run yourself, up to 64 and 128 KiB as JSON: the turn waits with a ClientToolCall until submitToolResult. They are there besides tools, and go along into forks.',
    }),
    temperature: t.float({ description: 'Sampling temperature, 0 to 2; null or left out: that of the provider.' }),
    maxOutputTokens: t.int({
      description:
        'Most tokens of one model call’s reply, from 1 to what the model can: a reply that reaches it ends its turn with LENGTH. Null or left out: only the model limits it, and a reply that it cuts goes on in further steps.',
    }),
    metadata: t.field({ type: 'JSON', description: 'Free data of yours, at most 64 KiB as JSON.' }),
  }),
});

builder.mutationField('createChatSession', (t) =>
  t.prismaField({
    type: ChatSession,
    description:
      'Creates a session. BAD_USER_INPUT for settings that are not valid, with a message that names them; NOT_FOUND when shareBudgetOf names none of your sessions; IDEMPOTENCY_KEY_REUSED and MODEL_PRICE_UNKNOWN as said at the fields.',
    args: { input: t.arg({ type: CreateChatSessionInput, required: true, description: 'The settings.' }) },
    resolve: async (query, _root, { input }, context) => {
      const shareBudgetOf =
        input.shareBudgetOf == null ? null : idOf('ChatSession', input.shareBudgetOf, 'shareBudgetOf');
      const { id } = await context.chat.createSession(context.principal, { ...input, shareBudgetOf });
      return loadSession(context, query, id);
    },
  }),
);
