import { activeSessionsBehind } from '../db/queries/owned-sessions.js';
import type { Context } from './context.js';

/**
 * Has what running turns have written so far stored before it is read. Only sessions of the caller are looked at, so
 * that asking for somebody else's object takes no longer than asking for none.
 */
export async function flushBehind(
  { database, principal, chat }: Context,
  ids: Parameters<typeof activeSessionsBehind>[2],
): Promise<void> {
  const active = await activeSessionsBehind(database.pool, principal, ids);
  await Promise.all(active.map((sessionId) => chat.flush(sessionId)));
}
