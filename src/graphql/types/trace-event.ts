import type { Prisma } from '../../db/generated/prisma/client.js';
import { builder } from '../builder.js';
import { globalId } from '../ids.js';

export const TraceEventType = builder.enumType('TraceEventType', {
  description: 'The kinds of record in the trace of a session.',
  values: {
    HISTORY_SEEDED: { description: 'Earlier messages were added: their number, roles and digest.' },
    TURN_STARTED: { description: 'A turn has begun.' },
    CONTEXT_DECISION: { description: 'How the prompt of a model call was made up.' },
    MODEL_CALL: { description: 'A model call has ended: its model, tokens, cost and times.' },
    ASSESSMENT: { description: 'How the reply of a model call was judged.' },
    TOOL_CALL: { description: 'A tool call has ended.' },
    DIAGNOSIS: { description: 'What was made of a failed tool call.' },
    INPUT_REQUESTED: { description: 'The turn asked its user for something.' },
    INPUT_RESOLVED: { description: 'A question of the turn was answered, expired or withdrawn.' },
    HISTORY_TRIMMED: { description: 'maxHistory took the oldest messages out of the history.' },
    BUDGET_EXCEEDED: { description: 'The budget did not allow another model call.' },
    TURN_FINISHED: { description: 'A turn has ended: its status, reason, tokens and cost.' },
  } as const,
});

/** The same records with the ids that clients know. That of a tool call is the one that the model gave, as everywhere. */
function withPublicIds(data: Prisma.JsonValue): Prisma.JsonValue {
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return data;
  const { modelCallId, requestId } = data;
  return {
    ...data,
    ...(typeof modelCallId === 'string' && { modelCallId: globalId('ModelCall', modelCallId) }),
    ...(typeof requestId === 'string' && { requestId: globalId('InputRequest', requestId) }),
  };
}

export const TraceEvent = builder.prismaNode('TraceEvent', {
  description:
    'One record of what happened and why. Records are only ever added. They hold figures and digests, not the contents of messages.',
  id: { field: 'id' },
  select: { id: true },
  fields: (t) => ({
    sequence: t.exposeInt('sequence', { description: 'Position in the trace of the session, from 1, without gaps.' }),
    type: t.expose('type', { type: TraceEventType, description: 'What happened.' }),
    turn: t.relation('turn', { nullable: true, description: 'The turn it happened in; null outside of one.' }),
    data: t.field({
      type: 'JSON',
      description:
        'The figures, an object whose fields depend on type and may grow. Ids in it are those of the schema: modelCallId, requestId, toolCallId.',
      select: { data: true },
      resolve: ({ data }) => withPublicIds(data),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
  }),
});
