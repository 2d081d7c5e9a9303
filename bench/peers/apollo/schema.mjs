import { makeExecutableSchema } from '@graphql-tools/schema';
import { PubSub } from 'graphql-subscriptions';
import { reply } from '../prisma/reply.mjs';
import { addUserMessage, prisma } from '../prisma/store.mjs';

const typeDefs = `#graphql
  type ChatSession { id: ID! turnCount: Int! totalTokens: Int! messages: [Message!]! }
  type Message { id: ID! role: String! content: String! createdAt: String! }
  type StreamEvent { type: String! delta: String message: Message }
  type Query { session(id: ID!): ChatSession }
  type Mutation { createSession: ChatSession! sendMessage(sessionId: ID!, content: String!): Message! }
  type Subscription { messageStream(sessionId: ID!): StreamEvent! }
`;
const pubSub = new PubSub();
const topicOf = (sessionId) => `message stream of ${sessionId}`;

const resolvers = {
  Query: { session: (_root, { id }) => prisma.chatSession.findUnique({ where: { id } }) },
  ChatSession: {
    messages: ({ id }) => prisma.message.findMany({ where: { sessionId: id }, orderBy: { id: 'asc' } }),
  },
  Message: { createdAt: ({ createdAt }) => createdAt.toISOString() },
  Mutation: {
    createSession: () => prisma.chatSession.create({ data: {} }),
    async sendMessage(_root, { sessionId, content }) {
      const message = await addUserMessage(sessionId, content);
      const publish = (messageStream) => pubSub.publish(topicOf(sessionId), { messageStream });
      reply(sessionId, publish).catch((error) => console.error(error));
      return message;
    },
  },
  Subscription: {
    messageStream: { subscribe: (_root, { sessionId }) => pubSub.asyncIterableIterator(topicOf(sessionId)) },
  },
};

export const schema = makeExecutableSchema({ typeDefs, resolvers });
