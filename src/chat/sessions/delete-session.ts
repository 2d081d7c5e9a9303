import type { Principal } from '../../auth/principal.js';
import { deleteSession as removeSession } from '../../db/queries/delete-session.js';
import { ChatError } from '../../errors.js';
import type { ChatDependencies } from '../dependencies.js';

/**
 * Deletes a session with its messages, turns, images and trace. A turn that runs in it is stopped first, so that its
 * provider request ends and its money is booked. The ledger rows stay, without their session.
 *
 * @throws ChatError NOT_FOUND.
 */
export async function deleteSession(
  deps: Pick<ChatDependencies, 'database'> & { stop(principal: Principal, sessionId: string): Promise<unknown> },
  principal: Principal,
  sessionId: string,
): Promise<void> {
  await deps.stop(principal, sessionId);
  if (!(await removeSession(deps.database.pool, { sessionId, ...principal }))) throw new ChatError('NOT_FOUND');
}
