import type { Principal } from '../../auth/principal.js';
import { acceptRegeneration, nothingToRegenerate } from '../../db/queries/accept-regeneration.js';
import { canonicalJson, sha256 } from '../../digest.js';
import { badInput, type ChatError } from '../../errors.js';
import type { Regeneration } from '../service.js';
import { checkClientId } from '../text.js';
import type { TurnDependencies } from './dependencies.js';
import { beginTurn, idempotencyKey, type StartedTurn } from './start-turn.js';

/** Differs from the digest of every message, so that a key cannot serve for both. */
const inputDigest = sha256(canonicalJson({ regenerate: true }));

async function explain(deps: TurnDependencies, sessionId: string): Promise<ChatError | null> {
  switch (await nothingToRegenerate(deps.database.pool, sessionId)) {
    case 'no turn':
      return badInput('There is nothing to regenerate: no turn has run in this session yet. Send a message instead.');
    case 'followed':
      return badInput(
        'There is nothing to regenerate: messages were added behind the last turn. Send a message instead.',
      );
    default:
      return null;
  }
}

/**
 * Runs the last turn's user message again, as a new turn with a copy of it. The messages of the last turn leave the
 * history and stay as its record; what it cost stays booked. Works as a retry of a turn that failed or was stopped.
 *
 * @throws ChatError for every refusal of startTurn; BAD_USER_INPUT when there is nothing to regenerate.
 */
export async function regenerateTurn(
  deps: TurnDependencies,
  principal: Principal,
  { sessionId, clientMessageId = null }: Regeneration,
): Promise<StartedTurn> {
  if (clientMessageId !== null) checkClientId('clientMessageId', clientMessageId);
  const turn = {
    sessionId,
    ...principal,
    turnId: deps.newId(),
    messageId: deps.newId(),
    clientMessageId,
    idempotencyKey: idempotencyKey({ clientMessageId }),
    inputDigest,
    models: deps.catalog.list().map((model) => model.id),
    leaseOwner: deps.processId,
    leaseMs: deps.settings.leaseMs,
    startedAt: deps.now(),
    traceId: deps.newId(),
  };
  return beginTurn(deps, turn, () => acceptRegeneration(deps.database.pool, turn), {
    explain: () => explain(deps, sessionId),
  });
}
