import type { Principal } from '../../auth/principal.js';
import { findSession } from '../../db/queries/find-session.js';
import { type SessionUpdate, updateSession as storeUpdate } from '../../db/queries/update-session.js';
import { ChatError } from '../../errors.js';
import type { ChatDependencies } from '../dependencies.js';
import type { SessionChange } from '../service.js';
import { checkPriceKnown } from './check-price.js';
import * as settings from './session-settings.js';

type Dependencies = Pick<ChatDependencies, 'database' | 'catalog' | 'settings'>;

/** Null stands for the default where a setting cannot be without a value. */
function readUpdate(deps: Dependencies, change: SessionChange): SessionUpdate {
  const { title, systemPrompt, model, maxHistory, maxStepsPerTurn, metadata, budget } = change;
  return {
    ...(title !== undefined && { title: settings.readTitle(title) }),
    ...(systemPrompt !== undefined && {
      systemPrompt: settings.readSystemPrompt(
        systemPrompt ?? settings.defaultSystemPrompt,
        deps.settings.maxMessageBytes,
      ),
    }),
    ...(model !== undefined && {
      model: model === null ? deps.catalog.default.id : settings.readModel(model, deps.catalog).id,
    }),
    ...(maxHistory !== undefined && { maxHistory: settings.readMaxHistory(maxHistory) }),
    ...(maxStepsPerTurn !== undefined && {
      maxStepsPerTurn: settings.readMaxSteps(maxStepsPerTurn ?? settings.defaultMaxSteps),
    }),
    ...(metadata !== undefined && { metadata: settings.readMetadata(metadata) }),
    ...(budget === null && settings.defaultBudget(deps.settings)),
    ...(budget?.maxCostUsd !== undefined && { maxCostUsd: settings.readMaxCost(budget.maxCostUsd) }),
    ...(budget?.maxTokens !== undefined && { maxTokens: settings.readMaxTokens(budget.maxTokens) }),
  };
}

/**
 * Changes the settings of an open session; they apply from its next turn on. Changing a shared budget changes it for
 * all sessions that draw on it.
 *
 * @throws ChatError NOT_FOUND, SESSION_CLOSED, BAD_USER_INPUT, MODEL_PRICE_UNKNOWN.
 */
export async function updateSession(deps: Dependencies, principal: Principal, change: SessionChange): Promise<void> {
  const update = readUpdate(deps, change);
  const session = await findSession(deps.database.pool, principal, change.id);
  if (!session) throw new ChatError('NOT_FOUND');
  if (session.status === 'CLOSED') throw new ChatError('SESSION_CLOSED');
  if (update.model !== undefined || update.maxCostUsd !== undefined) {
    const model = deps.catalog.find(update.model ?? session.model);
    const maxCostUsd = update.maxCostUsd === undefined ? session.maxCostUsd : update.maxCostUsd;
    if (model) await checkPriceKnown(deps, principal, model, maxCostUsd);
  }
  const target = { sessionId: change.id, ...principal };
  if (!(await storeUpdate(deps.database.pool, target, update))) throw new ChatError('SESSION_CLOSED');
}
