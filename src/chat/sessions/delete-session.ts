import type { Principal } from '../../auth/principal.js';
import { isForeignKeyViolation } from '../../db/database-errors.js';
import { deleteSession as removeSession } from '../../db/queries/delete-session.js';
import { ChatError } from '../../errors.js';
import type { ChatDependencies } from '../dependencies.js';

/** How often a turn may slip in between stopping one and deleting the session. */
const mostAttempts = 20;

/**
 * Deletes a session with its messages, turns, images and trace. A turn that runs in it is stopped first, so that its
 * provider request ends and its money is booked. The ledger rows stay, without their session.
 *
 * @throws ChatError NOT_FOUND; TURN_IN_PROGRESS when others keep starting turns in it.
 */
export async function deleteSession(
  deps: Pick<ChatDependencies, 'database'> & { stop(principal: Principal, sessionId: string): Promise<unknown> },
  principal: Principal,
  sessionId: string,
): Promise<void> {
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    // Throws NOT_FOUND for a session that is not there, and so ends the attempts.
    await deps.stop(principal, sessionId);
    try {
      if (await removeSession(deps.database.pool, { sessionId, ...principal })) return;
    } catch (error) {
      // Another session has begun to draw on its budget since the statement looked.
      if (!isForeignKeyViolation(error)) throw error;
    }
  }
  throw new ChatError('TURN_IN_PROGRESS');
}
