import type { InputRequest as InputRequestRow, ToolCall as ToolCallRow } from '../../db/generated/prisma/client.js';
import { encodeCursor } from '../../events/cursor.js';
import type { TurnEvent } from '../../events/event.js';
import { builder } from '../builder.js';
import { endedTurn } from '../ended-turn.js';
import { found } from '../found.js';
import { globalId } from '../ids.js';
import { loadRow } from '../load-row.js';
import { loadTurn } from '../load-turn.js';
import { Assessment } from './assessment.js';
import { ChatResponse } from './chat-response.js';
import { ContextReport } from './context-report.js';
import { InputRequest } from './input-request.js';
import { ReachedLimit } from './reached-limit.js';
import { ToolCall } from './tool-call.js';
import { Turn } from './turn.js';
import { TurnError } from './turn-error.js';
import { Usage } from './usage.js';

type EventOf<Type extends TurnEvent['type']> = Extract<TurnEvent, { readonly type: Type }>;

const TurnEventInterface = builder.interfaceRef<TurnEvent>('TurnEvent').implement({
  description: 'What every member of StreamEvent has.',
  fields: (t) => ({
    turnId: t.id({
      description: 'Id of the turn, for turnEvents and node.',
      resolve: ({ turnId }) => globalId('Turn', turnId),
    }),
    sequence: t.exposeInt('sequence', {
      description:
        'Rises from event to event of a turn, a delta by the length of its text in UTF-16 units, so it names the same place however deltas were merged.',
    }),
    cursor: t.string({
      description: 'Opaque position of this event in its session: give it as after to go on behind it.',
      // Made here and not with the event, since of most events it is never asked for.
      resolve: (event) => encodeCursor(event, event.sequence),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
  }),
  resolveType: ({ type }) => type,
});

const eventType = <Type extends TurnEvent['type']>(name: Type) => builder.objectRef<EventOf<Type>>(name);
const interfaces = [TurnEventInterface];

const TurnStarted = eventType('TurnStarted').implement({
  interfaces,
  description:
    'The first event of a subscription without after: drop what you have of this turn and build it anew from what follows.',
  fields: (t) => ({
    turn: t.prismaField({
      type: Turn,
      description: 'The turn, as it is stored when this event is delivered.',
      resolve: (query, { turnId }, _args, context) => loadTurn(context, query, turnId),
    }),
  }),
});

const ContextReported = eventType('ContextReported').implement({
  interfaces,
  description:
    'The model is asked now: how the prompt of this step was made up. Once for a step, before its first delta.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Step of the turn whose prompt it is, from 1.' }),
    report: t.expose('report', { type: ContextReport, description: 'How the prompt was made up.' }),
  }),
});

const TextDelta = eventType('TextDelta').implement({
  interfaces,
  description: 'A piece of the reply. The deltas of one messageId joined in their order are its text.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Step of the turn that writes it, from 1.' }),
    messageId: t.id({
      description: 'Id of the assistant message it belongs to, the same that it is stored under.',
      resolve: ({ messageId }) => globalId('Message', messageId),
    }),
    delta: t.exposeString('delta', { description: 'The piece of text; several pieces may arrive as one.' }),
  }),
});

const ThinkingDelta = eventType('ThinkingDelta').implement({
  interfaces,
  description:
    'A piece of what the model shows of its reasoning. It is kept with the turn, so that a later follower sees it too, but it is no part of the reply and never sent back to the model.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Step of the turn that thinks, from 1.' }),
    delta: t.exposeString('delta', { description: 'The piece of text; several pieces may arrive as one.' }),
  }),
});

const StepCompleted = eventType('StepCompleted').implement({
  interfaces,
  description: 'A model call of the turn has ended and is booked.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Number of the step, from 1.' }),
    usage: t.expose('usage', { type: Usage, description: 'Tokens of this step.' }),
    costUsd: t.exposeFloat('costUsd', { description: 'Cost of this step in USD.' }),
    assessment: t.expose('assessment', { type: Assessment, description: 'How the reply of this step was judged.' }),
    budget: t.prismaField({
      type: 'Budget',
      description: 'The budget of the session, as it stands when this event is delivered.',
      resolve: async (query, { sessionId }, _args, { database, principal }) => {
        const { owner, tenant } = principal;
        const where = { sessions: { some: { id: sessionId, owner, tenant } } };
        return found(await database.prisma.budget.findFirst({ ...query, where }));
      },
    }),
  }),
});

const ToolCallStarted = eventType('ToolCallStarted').implement({
  interfaces,
  description:
    'A call of a tool has begun, or a question or a tool of the client is about to be asked for. Calls of one step may run at the same time. A call that needs approval begins when it has it; one that is refused, denied or not answered begins and completes at once.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Step of the turn that made the call, from 1.' }),
    toolCall: t.prismaField({
      type: ToolCall,
      description: 'The call, as it is stored when this event is delivered.',
      resolve: (query, { toolCallId }, _args, context) => loadRow<ToolCallRow>(context, 'toolCall', query, toolCallId),
    }),
  }),
});

const ToolCallCompleted = eventType('ToolCallCompleted').implement({
  interfaces,
  description: 'A call has its result, which may be that it failed or was interrupted.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Step of the turn that made the call, from 1.' }),
    toolCall: t.prismaField({
      type: ToolCall,
      description: 'The call with its result.',
      resolve: (query, { toolCallId }, _args, context) => loadRow<ToolCallRow>(context, 'toolCall', query, toolCallId),
    }),
  }),
});

const InputRequested = eventType('InputRequested').implement({
  interfaces,
  description:
    'The turn asks its user or client and waits: answer with the mutation that belongs to the type of the request. Nothing else comes until then; several requests may be open at once.',
  fields: (t) => ({
    request: t.prismaField({
      type: InputRequest,
      description:
        'What it asks. A request that was answered meanwhile is told again to whoever follows from the start.',
      resolve: (query, { requestId }, _args, context) =>
        loadRow<InputRequestRow>(context, 'inputRequest', query, requestId),
    }),
  }),
});

const InputResolved = eventType('InputResolved').implement({
  interfaces,
  description: 'A request was answered, has expired or was closed by a stop: it takes no answer any more.',
  fields: (t) => ({
    requestId: t.id({
      description: 'Id of the request.',
      resolve: ({ requestId }) => globalId('InputRequest', requestId),
    }),
  }),
});

const response =
  'The reply and its usage, as stored. Its content is the whole text, so that a client can put it in place of the deltas it joined.';

const TurnCompleted = eventType('TurnCompleted').implement({
  interfaces,
  description: 'The turn has its reply. Nothing follows.',
  fields: (t) => ({
    reachedLimit: t.field({
      type: ReachedLimit,
      nullable: true,
      description: 'With the finishReason BUDGET: the limit that has cut the turn short.',
      resolve: ({ reached }) => reached ?? null,
    }),
    response: t.prismaField({
      type: ChatResponse,
      description: response,
      resolve: (query, { turnId, stored }, _args, context) => endedTurn(context, query, turnId, stored),
    }),
  }),
});

const TurnFailed = eventType('TurnFailed').implement({
  interfaces,
  description: 'The turn has failed. Text that had come is kept. Nothing follows.',
  fields: (t) => ({
    error: t.field({
      type: TurnError,
      description: 'Why it failed.',
      resolve: ({ code, retryable }) => ({ code, retryable }),
    }),
    reachedLimit: t.field({
      type: ReachedLimit,
      nullable: true,
      description: 'With the code BUDGET_EXCEEDED or MODEL_PRICE_UNKNOWN: the limit that allowed no call.',
      resolve: ({ reached }) => reached ?? null,
    }),
    response: t.prismaField({
      type: ChatResponse,
      description: response,
      resolve: (query, { turnId, stored }, _args, context) => endedTurn(context, query, turnId, stored),
    }),
  }),
});

const TurnStopped = eventType('TurnStopped').implement({
  interfaces,
  description: 'The turn was stopped by its user. Text that had come is kept. Nothing follows.',
  fields: (t) => ({
    response: t.prismaField({
      type: ChatResponse,
      description: response,
      resolve: (query, { turnId, stored }, _args, context) => endedTurn(context, query, turnId, stored),
    }),
  }),
});

const DiagnosisReported = eventType('DiagnosisReported').implement({
  interfaces,
  description:
    'A call of a tool has failed or was denied: what it is taken for, and what the model was advised inside of the result. The advice escalates when a tool fails again and again in a session: change the arguments, use another tool, ask the user, give up.',
  fields: (t) => ({
    step: t.exposeInt('step', { description: 'Step of the turn that made the call, from 1.' }),
    toolCallId: t.id({ description: 'Id of the call, that of its ToolCall.', resolve: ({ callId }) => callId }),
    category: t.exposeString('category', {
      description:
        'arguments, unknown_tool, timeout, unreachable, denied, unanswered, too_many_calls or tool_error. More may follow.',
    }),
    suggestion: t.exposeString('suggestion', {
      description: 'What the model was advised, in a sentence for people too.',
    }),
  }),
});

export const StreamEvent = builder.unionType('StreamEvent', {
  description:
    'What a turn emits. Without after the first event is TurnStarted; exactly one of TurnCompleted, TurnFailed, TurnStopped is the last. The union may grow: ignore members that you do not know.',
  types: [
    TurnStarted,
    ContextReported,
    TextDelta,
    ThinkingDelta,
    StepCompleted,
    ToolCallStarted,
    ToolCallCompleted,
    DiagnosisReported,
    InputRequested,
    InputResolved,
    TurnCompleted,
    TurnFailed,
    TurnStopped,
  ],
  resolveType: ({ type }) => type,
});
