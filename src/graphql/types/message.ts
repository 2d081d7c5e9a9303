import { builder } from '../builder.js';

export const MessageRole = builder.enumType('MessageRole', {
  description: 'Who speaks. The system prompt belongs to the session and is never a message.',
  values: {
    USER: { description: 'The person, or the program that talks for one.' },
    ASSISTANT: { description: 'The model.' },
    TOOL: { description: 'The result of a tool call, as the model was given it.' },
  } as const,
});

export const MessageStatus = builder.enumType('MessageStatus', {
  description: 'Whether the text of a message is whole.',
  values: {
    COMPLETE: { description: 'As it will stay.' },
    STREAMING: { description: 'Being written right now: the text grows until the turn ends.' },
    PARTIAL: { description: 'Cut by a stop, a failure or a limit, and kept as far as it came.' },
  } as const,
});

export const Message = builder.prismaNode('Message', {
  description: 'One message of a conversation.',
  id: { field: 'id' },
  select: { id: true },
  fields: (t) => ({
    sequence: t.exposeInt('sequence', {
      description:
        'Position in the session, from 1, without ties. Numbers of messages that maxHistory or regenerate took out are not given again. Negative for the message of a queued turn, which has no place in the history until its turn begins.',
    }),
    role: t.expose('role', { type: MessageRole, description: 'Who speaks.' }),
    content: t.exposeString('content', {
      description:
        'The text. Empty only for an assistant message that only calls tools, and for one whose first word has not come yet.',
    }),
    status: t.expose('status', { type: MessageStatus, description: 'Whether the text is whole.' }),
    images: t.relation('images', {
      description: 'Images of a user message, in the order in which they were sent; empty for all others.',
      query: { orderBy: { position: 'asc' } },
      complexity: { field: 1, multiplier: 4 },
    }),
    toolCalls: t.relation('toolCalls', {
      description: 'For an assistant message: the tool calls it made, in order; empty for all others.',
      query: { orderBy: { position: 'asc' } },
      complexity: { field: 1, multiplier: 4 },
    }),
    toolCallId: t.exposeString('toolCallId', {
      nullable: true,
      description:
        'For a tool message: the id of the ToolCall it answers, in an assistant message in front of it. Null for all others.',
    }),
    clientMessageId: t.exposeString('clientMessageId', {
      nullable: true,
      description:
        'The id that the client gave to its own message, to find it again among optimistic ones; null when it gave none.',
    }),
    seeded: t.exposeBoolean('seeded', { description: 'True when the message came through seedHistory.' }),
    turn: t.relation('turn', {
      nullable: true,
      description: 'The turn that the message belongs to; null for one that was seeded or copied by forkChatSession.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description:
        'When the message was stored, or when it was said if it was seeded with a time; a copy keeps the time of its original.',
    }),
  }),
});
