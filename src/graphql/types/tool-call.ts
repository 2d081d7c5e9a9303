import { builder } from '../builder.js';

export const ToolCallStatus = builder.enumType('ToolCallStatus', {
  description: 'Where a tool call stands. PENDING and RUNNING are open, everything else is final.',
  values: {
    PENDING: { description: 'Asked for by the model, not begun.' },
    RUNNING: { description: 'The tool is at work.' },
    SUCCEEDED: { description: 'It gave a result.' },
    FAILED: { description: 'It gave an error; result holds what the model was told.' },
    DENIED: { description: 'The user did not allow it.' },
    INTERRUPTED: { description: 'A stop, a failure or a lost server came first; the model was told so.' },
  } as const,
});

export const ToolCall = builder.prismaObject('ToolCall', {
  description: 'One call of a tool by the model.',
  select: { id: true },
  fields: (t) => ({
    id: t.id({
      description:
        'The id by which model and tool message know the call: the toolCallId of the message that answers it. It is only unique within its message, so normalising caches should keep ToolCall embedded (Apollo: keyFields: false).',
      select: { callId: true },
      resolve: ({ callId }) => callId,
    }),
    name: t.exposeString('name', { description: 'Name of the tool.' }),
    arguments: t.expose('arguments', { type: 'JSON', description: 'What the model gave to the tool.' }),
    status: t.expose('status', { type: ToolCallStatus, description: 'Where the call stands.' }),
    result: t.exposeString('result', {
      nullable: true,
      description: 'What the model was given as the answer; null while the call is open.',
    }),
    errorCode: t.exposeString('errorCode', {
      nullable: true,
      description: 'Why it gave no result, as a short code; null while it is open and when it succeeded.',
    }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description:
        'How long the tool worked, or the user took to answer, in milliseconds; null for a call that is open, was never begun or was seeded.',
    }),
  }),
});
