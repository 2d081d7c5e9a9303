import type { ChatSession } from '../db/generated/prisma/client.js';
import type { Context } from './context.js';
import { found } from './found.js';
import { findRows, type Selection } from './rows.js';

/** A session of the caller with what the document selected, after something was done to it. */
export async function loadSession(
  { database, principal }: Context,
  selection: Selection,
  id: string,
): Promise<ChatSession> {
  const { owner, tenant } = principal;
  const [session] = await findRows<ChatSession>(database.prisma, 'chatSession', selection, { id, owner, tenant });
  return found(session);
}
