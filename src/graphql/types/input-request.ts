import { builder } from '../builder.js';
import { globalId } from '../ids.js';
import { ToolCall } from './tool-call.js';

/** What each kind of request is called; they are rows of one table, told apart by their kind. */
const typeNames = { QUESTION: 'Question', APPROVAL: 'ToolApproval', CLIENT_TOOL: 'ClientToolCall' } as const;

export const InputRequest = builder.prismaInterface('InputRequest', {
  name: 'InputRequest',
  description:
    'Something that a turn asks of its user or its client, and waits for. Exactly one answer counts, whoever gives it.',
  select: { id: true, kind: true },
  fields: (t) => ({
    id: t.id({
      description: 'Opaque id, the requestId of the mutation that answers.',
      resolve: ({ id }) => globalId('InputRequest', id),
    }),
    turnId: t.id({
      description: 'Id of the turn that waits.',
      select: { turnId: true },
      resolve: ({ turnId }) => globalId('Turn', turnId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when an answer is taken; after that the turn goes on without one.',
    }),
  }),
  resolveType: ({ kind }) => typeNames[kind],
});

builder.prismaObject('InputRequest', {
  variant: 'Question',
  interfaces: [InputRequest],
  description: 'The model asks the user. Answer with answerQuestion; the same turn then goes on.',
  select: { id: true, kind: true },
  fields: (t) => ({
    question: t.string({
      description: 'What the model wants to know.',
      select: { question: true },
      resolve: ({ question }) => question ?? '',
    }),
    choices: t.stringList({
      nullable: true,
      description:
        'Answers that the model proposes, for buttons; null when it proposes none. Any other text may be answered as well.',
      select: { choices: true },
      resolve: ({ choices }) => choices as string[] | null,
    }),
  }),
});

builder.prismaObject('InputRequest', {
  variant: 'ToolApproval',
  interfaces: [InputRequest],
  description:
    'The model wants to call a tool that needs consent, and nothing has been done yet. Show the user name and arguments, and answer with decideApproval. It holds for exactly this call; nobody answering until expiresAt counts as a denial.',
  select: { id: true, kind: true },
  fields: (t) => ({
    toolCall: t.relation('toolCall', {
      type: ToolCall,
      description: 'The call, PENDING until it is allowed, with the arguments that it would be run with.',
    }),
  }),
});

builder.prismaObject('InputRequest', {
  variant: 'ClientToolCall',
  interfaces: [InputRequest],
  description:
    'The model calls a tool that the client has declared. Run it with these arguments and answer with submitToolResult. Several clients may see it; the first result counts.',
  select: { id: true, kind: true },
  fields: (t) => ({
    toolCall: t.relation('toolCall', {
      type: ToolCall,
      description: 'The call; its arguments are valid by the schema that the client has declared.',
    }),
  }),
});
