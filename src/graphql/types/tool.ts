import type { ToolInfo } from '../../chat/service.js';
import { builder } from '../builder.js';

const ToolOrigin = builder.enumType('ToolOrigin', {
  description: 'Where a tool comes from.',
  values: {
    BUILT_IN: { description: 'It is part of every server.' },
    SERVER: { description: 'The operator of this server has added it.' },
    MCP: { description: 'An MCP server offers it, as long as that can be reached.' },
    CLIENT: { description: 'The client of the session runs it.' },
  } as const,
});

const ToolSideEffect = builder.enumType('ToolSideEffect', {
  description:
    'What a tool does to the world around it. Calls that write run one by one, all others of a step at the same time.',
  values: {
    NONE: { description: 'It only computes.' },
    READ: { description: 'It reads something, and changes nothing.' },
    WRITE: { description: 'It changes something, or nobody has said that it does not.' },
  } as const,
});

export const Tool = builder.objectRef<ToolInfo>('Tool').implement({
  description: 'Something that the model may call.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Its name, 1 to 64 letters, digits, underscores and hyphens; unique within a session.',
    }),
    description: t.exposeString('description', { description: 'What the model is told about it.' }),
    parameters: t.expose('parameters', {
      type: 'JSON',
      description: 'JSON Schema of its arguments; the type is object.',
    }),
    origin: t.expose('origin', { type: ToolOrigin, description: 'Where it comes from.' }),
    sideEffect: t.expose('sideEffect', { type: ToolSideEffect, description: 'What it does to the world around it.' }),
    requiresApproval: t.exposeBoolean('requiresApproval', {
      description: 'Whether each call waits with a ToolApproval until the user has allowed it.',
    }),
  }),
});

builder.queryField('tools', (t) =>
  t.field({
    type: [Tool],
    description:
      'The tools that createChatSession(tools:) may name, as they are on offer at this moment; recall and pin belong only to sessions that name them.',
    resolve: (_root, _args, { chat }) => [...chat.tools()],
  }),
);
