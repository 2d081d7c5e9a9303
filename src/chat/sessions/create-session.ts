import type { Principal } from '../../auth/principal.js';
import { isForeignKeyViolation } from '../../db/database-errors.js';
import { createSession as insertSession, type SessionToCreate } from '../../db/queries/create-session.js';
import { findSession, findSessionByClientId } from '../../db/queries/find-session.js';
import { canonicalJson, sha256 } from '../../digest.js';
import { badInput, ChatError } from '../../errors.js';
import type { ChatDependencies } from '../dependencies.js';
import type { NewSession } from '../service.js';
import { checkClientId } from '../text.js';
import { checkPriceKnown } from './check-price.js';
import { readClientTools, readToolNames } from './read-tools.js';
import * as settings from './session-settings.js';

type Dependencies = Pick<ChatDependencies, 'database' | 'catalog' | 'settings' | 'tools' | 'newId'>;

async function readBudget(
  deps: Dependencies,
  principal: Principal,
  input: NewSession,
): Promise<{ budget: SessionToCreate['budget']; maxCostUsd: string | null }> {
  const shared = input.shareBudgetOf ?? null;
  if (shared !== null) {
    if (input.budget) {
      throw badInput('Give either budget or shareBudgetOf: a shared budget keeps the limits it has.');
    }
    const other = await findSession(deps.database.pool, principal, shared);
    if (!other) throw new ChatError('NOT_FOUND', 'There is no session of yours with the id in shareBudgetOf.');
    return { budget: { sharedWith: shared }, maxCostUsd: other.maxCostUsd };
  }
  const { maxCostUsd, maxTokens } = input.budget ?? {};
  const usual = settings.defaultBudget(deps.settings);
  const cost = maxCostUsd === undefined ? usual.maxCostUsd : settings.readMaxCost(maxCostUsd);
  const tokens = maxTokens === undefined ? usual.maxTokens : settings.readMaxTokens(maxTokens);
  return { budget: { id: deps.newId(), maxCostUsd: cost, maxTokens: tokens }, maxCostUsd: cost };
}

/**
 * What tells a retry from other input. At the top, null and left out mean the same; inside of the budget they do not,
 * since null is unlimited there.
 */
const inputDigest = (input: NewSession): string =>
  sha256(canonicalJson(Object.fromEntries(Object.entries(input).filter(([, member]) => member != null))));

/** False as well when the session to share with was deleted while the statement ran. */
async function insert({ database }: Dependencies, session: SessionToCreate): Promise<boolean> {
  try {
    return await insertSession(database.pool, session);
  } catch (error) {
    if (isForeignKeyViolation(error)) return false;
    throw error;
  }
}

/**
 * Creates a session with its budget. With a clientSessionId, repeating the call gives the session that is there.
 *
 * @throws ChatError BAD_USER_INPUT, MODEL_PRICE_UNKNOWN, NOT_FOUND (shareBudgetOf), IDEMPOTENCY_KEY_REUSED.
 */
export async function createSession(
  deps: Dependencies,
  principal: Principal,
  input: NewSession,
): Promise<{ id: string }> {
  const clientSessionId = input.clientSessionId ?? null;
  if (clientSessionId !== null) checkClientId('clientSessionId', clientSessionId);
  const model = input.model == null ? deps.catalog.default : settings.readModel(input.model, deps.catalog);
  const session = {
    id: deps.newId(),
    ...principal,
    clientSessionId,
    inputDigest: inputDigest(input),
    title: settings.readTitle(input.title ?? null),
    model: model.id,
    systemPrompt: settings.readSystemPrompt(
      input.systemPrompt ?? settings.defaultSystemPrompt,
      deps.settings.maxMessageBytes,
    ),
    maxHistory: settings.readMaxHistory(input.maxHistory ?? null),
    maxStepsPerTurn: settings.readMaxSteps(input.maxStepsPerTurn ?? settings.defaultMaxSteps),
    temperature: settings.readTemperature(input.temperature ?? null),
    maxOutputTokens: settings.readMaxOutputTokens(input.maxOutputTokens ?? null, model),
    metadata: settings.readMetadata(input.metadata),
    toolNames: readToolNames(input.tools ?? null, deps.tools),
    clientTools: readClientTools(input.clientTools ?? [], deps.tools),
  };
  const { budget, maxCostUsd } = await readBudget(deps, principal, input);
  await checkPriceKnown(deps, principal, model, maxCostUsd);
  if (await insert(deps, { ...session, budget })) return { id: session.id };
  const existing =
    clientSessionId === null ? null : await findSessionByClientId(deps.database.pool, principal, clientSessionId);
  if (!existing) throw new ChatError('NOT_FOUND', 'The session in shareBudgetOf was deleted in the meantime.');
  if (existing.inputDigest !== session.inputDigest) throw new ChatError('IDEMPOTENCY_KEY_REUSED');
  return { id: existing.id };
}
