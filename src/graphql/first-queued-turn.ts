import type { Turn } from '../db/generated/prisma/client.js';
import type { Context } from './context.js';
import type { Selection } from './rows.js';

/**
 * The turn that comes next in a session, with what the document selected: for the moment in which one turn has ended and
 * the next has not begun. Null when it has begun by now.
 */
export async function firstQueuedTurn(
  { database }: Context,
  selection: Selection,
  sessionId: string,
): Promise<Turn | null> {
  const turns = database.prisma.turn as unknown as { findFirst(query: object): Promise<Turn | null> };
  return turns.findFirst({ ...selection, where: { sessionId, status: 'QUEUED' }, orderBy: { number: 'asc' } });
}
