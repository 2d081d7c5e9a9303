import type { Principal } from '../../auth/principal.js';
import { isForeignKeyViolation } from '../../db/database-errors.js';
import { findSession, findSessionByClientId } from '../../db/queries/find-session.js';
import { findForkPoint, type SessionToFork, forkSession as storeFork } from '../../db/queries/fork-session.js';
import { canonicalJson, sha256 } from '../../digest.js';
import { badInput, ChatError } from '../../errors.js';
import type { ChatDependencies } from '../dependencies.js';
import type { Fork } from '../service.js';
import { checkClientId } from '../text.js';
import * as settings from './session-settings.js';

type Dependencies = Pick<ChatDependencies, 'database' | 'newId'>;

/** How often a fork is tried when the turn that stood in its way has just ended. */
const mostAttempts = 3;

async function store(deps: Dependencies, fork: SessionToFork): Promise<boolean> {
  try {
    return await storeFork(deps.database.pool, fork);
  } catch (error) {
    // The source was deleted in the meantime, which the next look will find.
    if (isForeignKeyViolation(error)) return false;
    throw error;
  }
}

/** The error for a fork that was not made. Null when nothing stands in its way any more. */
async function refusal(deps: Dependencies, principal: Principal, fork: SessionToFork): Promise<ChatError | null> {
  const { pool } = deps.database;
  if (!(await findSession(pool, principal, fork.sourceId))) return new ChatError('NOT_FOUND');
  if (fork.upToMessageId === null) return null;
  const point = await findForkPoint(pool, fork);
  if (!point) {
    return new ChatError('NOT_FOUND', 'There is no message with the id in upToMessageId in this session.');
  }
  if (point.openTurnId !== null) {
    return new ChatError(
      'TURN_IN_PROGRESS',
      'The turn of the message in upToMessageId has not ended: wait for its end, stop it, or leave upToMessageId out.',
      { details: { turnId: point.openTurnId } },
    );
  }
  if (point.inHistory) return null;
  return badInput(
    'The message in upToMessageId is not in the history any more: choose one of ChatSession.messages, or leave it out.',
  );
}

/**
 * Creates a session with the settings of another one and a copy of its history, up to a message or whole. What an
 * active or queued turn has written is left out. A tool call always comes with its results. With a clientSessionId,
 * repeating the call gives the session that is there; without, every call makes another one.
 *
 * @throws ChatError NOT_FOUND, BAD_USER_INPUT, TURN_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED.
 */
export async function forkSession(deps: Dependencies, principal: Principal, input: Fork): Promise<{ id: string }> {
  const { sessionId, upToMessageId = null, title, clientSessionId = null } = input;
  if (clientSessionId !== null) checkClientId('clientSessionId', clientSessionId);
  const fork = {
    sourceId: sessionId,
    ...principal,
    upToMessageId,
    id: deps.newId(),
    budgetId: deps.newId(),
    title: title == null ? undefined : settings.readTitle(title),
    clientSessionId,
    inputDigest: sha256(canonicalJson({ forkOf: sessionId, upToMessageId, title: title ?? null })),
  };
  for (let attempt = 1; ; attempt += 1) {
    if (await store(deps, fork)) return { id: fork.id };
    const existing =
      clientSessionId === null ? null : await findSessionByClientId(deps.database.pool, principal, clientSessionId);
    if (existing) {
      if (existing.inputDigest !== fork.inputDigest) throw new ChatError('IDEMPOTENCY_KEY_REUSED');
      return { id: existing.id };
    }
    const error = await refusal(deps, principal, fork);
    if (error) throw error;
    if (attempt === mostAttempts) throw new ChatError('UNAVAILABLE');
  }
}
