import type { Principal } from '../../src/auth/principal.js';
import type { Prisma, PrismaClient } from '../../src/db/generated/prisma/client.js';
import { newId } from '../../src/ids.js';

type Session = Partial<Prisma.ChatSessionUncheckedCreateInput>;
type Message = Partial<Prisma.MessageUncheckedCreateInput>;
type Turn = Partial<Prisma.TurnUncheckedCreateInput>;
type ModelCall = Partial<Prisma.ModelCallUncheckedCreateInput>;
type TraceEvent = Partial<Prisma.TraceEventUncheckedCreateInput>;

/** Writes rows as the engine would leave them, for tests that read. Each answers with the database's own id. */
export function rowWriter(prisma: PrismaClient) {
  const session = async (principal: Principal, values: Session = {}): Promise<string> => {
    const budget = await prisma.budget.create({ data: { id: newId(), ...principal } });
    const { id } = await prisma.chatSession.create({
      data: {
        id: newId(),
        ...principal,
        inputDigest: 'digest',
        model: 'demo',
        systemPrompt: '',
        maxStepsPerTurn: 10,
        budgetId: budget.id,
        ...values,
      },
    });
    return id;
  };

  /** Messages of a session in the given order, from sequence 1, with the counters of the session set to fit. */
  const messages = async (sessionId: string, list: readonly Message[]): Promise<string[]> => {
    const data = list.map((values, index) => ({
      id: newId(),
      sessionId,
      sequence: index + 1,
      role: 'USER' as const,
      content: `message ${index + 1}`,
      ...values,
    }));
    await prisma.message.createMany({ data });
    await prisma.chatSession.update({
      where: { id: sessionId },
      data: { messageCount: data.filter(({ trimmedAt }) => !trimmedAt).length, lastMessageSequence: data.length },
    });
    return data.map(({ id }) => id);
  };

  /** A completed turn around a stored user message, and the reply if there is one. */
  const turn = async (
    sessionId: string,
    number: number,
    userMessageId: string,
    finalMessageId: string | null = null,
    values: Turn = {},
  ): Promise<string> => {
    const { id } = await prisma.turn.create({
      data: {
        id: newId(),
        sessionId,
        number,
        status: 'COMPLETED',
        finishReason: 'STOP',
        userMessageId,
        finalMessageId,
        inputDigest: 'digest',
        startedAt: new Date(),
        finishedAt: new Date(),
        ...values,
      },
    });
    const ids = finalMessageId ? [userMessageId, finalMessageId] : [userMessageId];
    await prisma.message.updateMany({ where: { id: { in: ids } }, data: { turnId: id } });
    await prisma.chatSession.update({ where: { id: sessionId }, data: { turnCount: number } });
    return id;
  };

  const modelCall = async (principal: Principal, values: ModelCall): Promise<string> => {
    const { id } = await prisma.modelCall.create({
      data: {
        id: newId(),
        ...principal,
        purpose: 'ANSWER',
        model: 'demo',
        status: 'SUCCEEDED',
        settledAt: new Date(),
        ...values,
      },
    });
    return id;
  };

  const traceEvents = async (sessionId: string, list: readonly TraceEvent[]): Promise<string[]> => {
    const data = list.map((values, index) => ({
      id: newId(),
      sessionId,
      sequence: index + 1,
      type: 'TURN_STARTED' as const,
      data: {},
      ...values,
    }));
    await prisma.traceEvent.createMany({ data });
    await prisma.chatSession.update({ where: { id: sessionId }, data: { lastTraceSequence: data.length } });
    return data.map(({ id }) => id);
  };

  return { session, messages, turn, modelCall, traceEvents };
}

export type RowWriter = ReturnType<typeof rowWriter>;
