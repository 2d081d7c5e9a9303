import type { Principal } from '../../auth/principal.js';
import { explainRefusal } from '../../db/queries/explain-refusal.js';
import { seedMessages } from '../../db/queries/seed-messages.js';
import { trimHistory } from '../../db/queries/trim-history.js';
import { inTransaction } from '../../db/transaction.js';
import { shortDigest } from '../../digest.js';
import { ChatError } from '../../errors.js';
import type { ChatDependencies } from '../dependencies.js';
import type { SeedMessage, SeedResult } from '../service.js';
import { busyError } from '../turns/refusal.js';
import { readSeed } from './read-seed.js';

type Dependencies = Pick<ChatDependencies, 'database' | 'settings' | 'newId' | 'now'>;

/** The digest is over what the caller sees as the content: roles, texts and calls, in order. */
function contentDigest(entries: readonly SeedMessage[]): string {
  return shortDigest(
    entries
      .filter((entry) => entry.role !== 'SYSTEM')
      .map(({ role, content, toolCallId, toolCalls }) => ({
        role: role.toLowerCase(),
        content,
        ...(toolCallId != null && { toolCallId }),
        ...(toolCalls?.length && { toolCalls }),
      })),
  );
}

/**
 * Appends earlier messages to a session's history, all or none, and traces it. Does not count as a turn. Calling it
 * twice appends twice.
 *
 * @throws ChatError BAD_USER_INPUT, NOT_FOUND, SESSION_CLOSED, TURN_IN_PROGRESS, INPUT_PENDING.
 */
export async function seedHistory(
  deps: Dependencies,
  principal: Principal,
  sessionId: string,
  entries: readonly SeedMessage[],
): Promise<SeedResult> {
  const { maxMessageBytes } = deps.settings;
  const seed = readSeed(entries, { maxMessageBytes, now: deps.now(), newId: deps.newId });
  const result: SeedResult = {
    seededCount: seed.messages.length,
    skippedSystemCount: seed.skippedSystemCount,
    roleCounts: seed.roleCounts,
    contentDigest: contentDigest(entries),
  };
  const target = { sessionId, ...principal };
  const stored =
    seed.messages.length > 0 &&
    (await inTransaction(deps.database.pool, async (db) => {
      const session = await seedMessages(db, {
        ...target,
        messages: seed.messages,
        toolCalls: seed.toolCalls,
        traceId: deps.newId(),
        trace: {
          seedCount: result.seededCount,
          roleCounts: result.roleCounts,
          skippedSystem: result.skippedSystemCount,
          contentDigest: result.contentDigest,
        },
      });
      if (session && session.maxHistory !== null) {
        await trimHistory(db, sessionId, session.maxHistory, { id: deps.newId(), turnId: null });
      }
      return session !== null;
    }));
  if (stored) return result;
  // Nothing was stored: either there was nothing to store, which is fine, or the session refused.
  const facts = await explainRefusal(deps.database.pool, target, null);
  if (!facts) throw new ChatError('NOT_FOUND');
  if (facts.closed) throw new ChatError('SESSION_CLOSED');
  if (seed.messages.length > 0) throw busyError(facts);
  return result;
}
