import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import { createPubSub } from 'graphql-yoga';
import { getDatamodel } from '../prisma/generated/js/pothos-types.mjs';
import { reply } from '../prisma/reply.mjs';
import { addUserMessage, prisma } from '../prisma/store.mjs';

const pubSub = createPubSub();
const topic = 'message:stream';
const builder = new SchemaBuilder({ plugins: [PrismaPlugin], prisma: { client: prisma, dmmf: getDatamodel() } });

const Message = builder.prismaObject('Message', {
  fields: (t) => ({
    id: t.exposeID('id'),
    role: t.exposeString('role'),
    content: t.exposeString('content'),
    createdAt: t.string({ resolve: ({ createdAt }) => createdAt.toISOString() }),
  }),
});

builder.prismaObject('ChatSession', {
  fields: (t) => ({
    id: t.exposeID('id'),
    turnCount: t.exposeInt('turnCount'),
    totalTokens: t.exposeInt('totalTokens'),
    messages: t.relation('messages', { query: { orderBy: { id: 'asc' } } }),
  }),
});

const StreamEvent = builder.objectRef('StreamEvent').implement({
  fields: (t) => ({
    type: t.exposeString('type'),
    delta: t.exposeString('delta', { nullable: true }),
    message: t.field({ type: Message, nullable: true, resolve: ({ message }) => message ?? null }),
  }),
});

builder.queryType({
  fields: (t) => ({
    session: t.prismaField({
      type: 'ChatSession',
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve: (query, _root, { id }) => prisma.chatSession.findUnique({ ...query, where: { id: String(id) } }),
    }),
  }),
});

builder.mutationType({
  fields: (t) => ({
    createSession: t.prismaField({
      type: 'ChatSession',
      resolve: (query) => prisma.chatSession.create({ ...query, data: {} }),
    }),
    sendMessage: t.prismaField({
      type: 'Message',
      args: { sessionId: t.arg.id({ required: true }), content: t.arg.string({ required: true }) },
      async resolve(query, _root, { sessionId, content }) {
        const message = await addUserMessage(sessionId, content, query);
        reply(sessionId, (event) => pubSub.publish(topic, sessionId, event)).catch((error) => console.error(error));
        return message;
      },
    }),
  }),
});

builder.subscriptionType({
  fields: (t) => ({
    messageStream: t.field({
      type: StreamEvent,
      args: { sessionId: t.arg.id({ required: true }) },
      subscribe: (_root, { sessionId }) => pubSub.subscribe(topic, sessionId),
      resolve: (event) => event,
    }),
  }),
});

export const schema = builder.toSchema();
