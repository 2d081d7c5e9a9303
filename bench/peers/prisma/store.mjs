import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/js/client.mjs';

export const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });

export const addUserMessage = (sessionId, content, query = {}) =>
  prisma.message.create({ ...query, data: { sessionId, role: 'user', content } });

/** The whole conversation, as a model is asked. */
export async function loadHistory(sessionId) {
  const messages = await prisma.message.findMany({ where: { sessionId }, orderBy: { id: 'asc' } });
  return messages.map(({ role, content }) => ({ role, content }));
}

/** Stores the reply and the totals together; gives the stored message. */
export async function addReply(sessionId, content, tokens) {
  const [message] = await prisma.$transaction([
    prisma.message.create({ data: { sessionId, role: 'assistant', content } }),
    prisma.chatSession.update({
      where: { id: sessionId },
      data: { turnCount: { increment: 1 }, totalTokens: { increment: tokens } },
    }),
  ]);
  return message;
}
