import { queryFromInfo } from '@pothos/plugin-prisma';
import {
  historyList,
  messagesList,
  modelCallsList,
  traceEventsList,
  turnsList,
} from '../../db/queries/session-lists.js';
import { findPresent } from '../../db/queries/session-turns.js';
import { badInput } from '../../errors.js';
import { encodeSessionCursor } from '../../events/cursor.js';
import { builder } from '../builder.js';
import { connectionOf, loadPage } from '../connection.js';
import { firstQueuedTurn } from '../first-queued-turn.js';
import { gone } from '../found.js';
import { toUsd } from '../numbers.js';
import { pageComplexity } from '../paging.js';
import { InputRequest } from './input-request.js';
import { Message } from './message.js';
import { ModelCall } from './model-call.js';
import { Tool } from './tool.js';
import { TraceEvent, TraceEventType } from './trace-event.js';
import { Turn } from './turn.js';
import { totalTokensOf, Usage, usageColumns, usageOf } from './usage.js';

export const ChatSessionStatus = builder.enumType('ChatSessionStatus', {
  description: 'Whether a session takes new turns.',
  values: {
    OPEN: { description: 'It takes turns, seeds and changes.' },
    CLOSED: { description: 'It can be read and deleted, nothing else.' },
  } as const,
});

/** How many messages a history counts for, at most, in the complexity of an operation: its true length is unknown. */
const countedHistory = 200;

/** One selection for both fields that read it, so that a document with both reads once. */
const pendingInputs = {
  where: { status: 'PENDING' as const, turn: { status: 'AWAITING_INPUT' as const } },
  orderBy: [{ createdAt: 'asc' as const }, { id: 'asc' as const }],
};

export const ChatSession = builder.prismaNode('ChatSession', {
  description: 'A multi-turn conversation with persistent history and a budget that all of its turns share.',
  id: { field: 'id' },
  select: { id: true },
  fields: (t) => ({
    title: t.exposeString('title', { nullable: true, description: 'A name for lists; null when it has none.' }),
    status: t.expose('status', { type: ChatSessionStatus, description: 'Whether it takes new turns.' }),
    model: t.exposeString('model', { description: 'Id of the model that answers, one of Query.models.' }),
    systemPrompt: t.exposeString('systemPrompt', {
      description:
        'What the model is told in front of the conversation; empty when nothing. It is not part of the history.',
    }),
    history: t.field({
      type: [Message],
      description:
        'What user and model said, oldest first, without system prompt and tool messages: all that maxHistory keeps. For long conversations use last, or page through messages.',
      args: {
        last: t.arg.int({
          description:
            'Only the newest this many, still oldest first; 0 gives none. Left out or null: everything. A negative number is BAD_USER_INPUT.',
        }),
      },
      complexity: ({ last }) => ({
        field: 1,
        multiplier: Math.max(0, Math.min(last ?? countedHistory, countedHistory)),
      }),
      resolve: async ({ id }, { last }, context, info) => {
        if (last != null && last < 0) {
          throw badInput('last must not be negative: give the number of messages, or leave it out for all of them.');
        }
        const source = { list: historyList, model: 'message', type: 'Message' } as const;
        const range = { forward: last == null, limit: last ?? null, after: null, before: null };
        const { rows } = await loadPage<typeof Message.$inferType>(context, { sessionId: id, info }, source, range, []);
        return rows.filter((row) => row !== undefined);
      },
    }),
    messages: t.connection({
      type: Message,
      description:
        'Everything that is in the history, tool messages included, oldest first. What maxHistory or regenerate took out is only found in its turn.',
      complexity: pageComplexity,
      select: { messageCount: true },
      resolve: ({ id, messageCount }, args, context, info) =>
        connectionOf(
          context,
          { sessionId: id, info },
          { list: messagesList, model: 'message', type: 'Message' },
          args,
          messageCount,
        ),
    }),
    maxHistory: t.exposeInt('maxHistory', {
      nullable: true,
      description:
        'Most messages that stay in the history after a turn, tool messages included; null keeps all, 0 keeps none.',
    }),
    temperature: t.exposeFloat('temperature', {
      nullable: true,
      description: 'Sampling temperature of its model calls, 0 to 2; null leaves it to the provider.',
    }),
    maxOutputTokens: t.exposeInt('maxOutputTokens', {
      nullable: true,
      description:
        'Most tokens of one model call’s reply. A reply that reaches it ends its turn with LENGTH; without one, null, a reply that the model cuts goes on in further steps.',
    }),
    forkedFrom: t.relation('forkedFrom', {
      nullable: true,
      description: 'The session that it began as a copy of; null when it did not, or when that one is deleted.',
    }),
    maxStepsPerTurn: t.exposeInt('maxStepsPerTurn', { description: 'Most model calls that one turn may make.' }),
    turnCount: t.exposeInt('turnCount', {
      description:
        'Turns that were accepted by send, stream or regenerate, queued ones included, however they ended. Seeding does not count, and a fork begins at 0.',
    }),
    messageCount: t.exposeInt('messageCount', {
      description: 'Messages that are in the history, tool messages included.',
    }),
    totalTokens: t.field({
      type: 'SafeInt',
      description: 'Tokens of all its model calls that have ended, input and output together.',
      select: { inputTokens: true, outputTokens: true },
      resolve: totalTokensOf,
    }),
    totalCostUsd: t.float({
      description: 'Cost in USD of all its model calls that have ended.',
      select: { totalCostUsd: true },
      resolve: ({ totalCostUsd }) => toUsd(totalCostUsd),
    }),
    usage: t.field({
      type: Usage,
      description: 'Tokens of all its model calls that have ended, by kind.',
      select: usageColumns,
      resolve: usageOf,
    }),
    budget: t.relation('budget', { onNull: gone, description: 'The limit on what it may spend, and what is left.' }),
    turns: t.connection({
      type: Turn,
      description: 'All its turns, oldest first.',
      complexity: pageComplexity,
      select: { turnCount: true },
      resolve: ({ id, turnCount }, args, context, info) =>
        connectionOf<typeof Turn.$inferType>(
          context,
          { sessionId: id, info },
          { list: turnsList, model: 'turn', type: 'Turn' },
          args,
          turnCount,
        ),
    }),
    activeTurn: t.field({
      type: Turn,
      nullable: true,
      description:
        'The turn that runs or waits for input, or else the first that is queued; null when the session is free. Others that are queued stand in turns.',
      select: (_args, _context, nested) => ({ queuedTurns: true, activeTurn: nested(true) }),
      resolve: ({ id, activeTurn, queuedTurns }, _args, context, info) => {
        if (activeTurn || queuedTurns === 0) return activeTurn;
        return firstQueuedTurn(context, queryFromInfo({ context, info }), id);
      },
    }),
    eventsCursor: t.string({
      description:
        'Where this session stands in sessionEvents: behind every turn that has ended, before the active one. Give it as after, and nothing is missed between this read and the subscription, however often the connection is lost before its first event.',
      select: { id: true, turnCount: true, queuedTurns: true, activeTurn: { select: { number: true } } },
      // By the row of the session where that is possible: a place that was asked for later might lie behind a turn whose
      // messages this answer does not show.
      resolve: async ({ id, turnCount, queuedTurns, activeTurn }, _args, { database, principal }) => {
        if (activeTurn) return encodeSessionCursor(id, activeTurn.number - 1);
        if (queuedTurns === 0) return encodeSessionCursor(id, turnCount);
        return encodeSessionCursor(id, (await findPresent(database.pool, { sessionId: id, ...principal })) ?? 0);
      },
    }),
    pendingInput: t.field({
      type: InputRequest,
      nullable: true,
      description:
        'What the active turn waits for, the oldest when it waits for several things; null when it does not wait.',
      select: (_args, _context, nestedSelection) => ({
        inputRequests: nestedSelection(pendingInputs),
      }),
      resolve: ({ inputRequests }) => inputRequests[0] ?? null,
    }),
    pendingInputs: t.field({
      type: [InputRequest],
      description: 'All that the active turn waits for, the oldest first; empty when it does not wait.',
      complexity: { field: 1, multiplier: 4 },
      select: (_args, _context, nestedSelection) => ({ inputRequests: nestedSelection(pendingInputs) }),
      resolve: ({ inputRequests }) => inputRequests,
    }),
    modelCalls: t.connection({
      type: ModelCall,
      description: 'Every model call, oldest first, with exact tokens and money.',
      complexity: pageComplexity,
      resolve: ({ id }, args, context, info) =>
        connectionOf(
          context,
          { sessionId: id, info },
          { list: modelCallsList, model: 'modelCall', type: 'ModelCall' },
          args,
        ),
    }),
    traceEvents: t.connection({
      type: TraceEvent,
      description: 'What happened and why, oldest first.',
      args: {
        types: t.arg({
          type: [TraceEventType],
          description: 'Only these kinds. Left out or null: all of them; an empty list gives none.',
        }),
      },
      complexity: pageComplexity,
      select: { lastTraceSequence: true },
      resolve: ({ id, lastTraceSequence }, { types, ...args }, context, info) =>
        connectionOf(
          context,
          { sessionId: id, info },
          { list: traceEventsList(types ?? null), model: 'traceEvent', type: 'TraceEvent' },
          args,
          types == null ? lastTraceSequence : undefined,
        ),
    }),
    tools: t.field({
      type: [Tool],
      description:
        'What its model may call: the tools of this server that the session allows, as they are on offer at this moment, then those that its client has declared.',
      select: { toolNames: true, clientTools: true },
      resolve: (session, _args, { chat }) => [...chat.sessionTools(session)],
    }),
    metadata: t.expose('metadata', {
      type: 'JSON',
      nullable: true,
      description: 'Free data of the client, as it was given; null when none was.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description:
        'When something last happened in it: a turn began or ended, messages were seeded, a setting changed.',
    }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was closed; null while it is open.',
    }),
  }),
});
