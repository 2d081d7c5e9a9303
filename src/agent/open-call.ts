import { type ModelCallToOpen, openModelCall } from '../db/queries/open-model-call.js';
import type { TurnFacts } from '../db/queries/turn-facts.js';
import type { ModelInfo } from '../model/catalog.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost } from './ends.js';
import { patiently } from './patience.js';

/** A price as the ledger takes it; null when it is unknown. */
const priceText = (model: ModelInfo, kind: 'input' | 'cachedInput' | 'output') =>
  model.prices?.[kind].toFixed(8) ?? null;

/**
 * Writes the ledger row of a request that a turn is about to make, with the prices of this moment. Gives its id.
 *
 * @throws OwnershipLost when the turn was taken over, and the error of a database that stayed away.
 */
export async function openCall(
  deps: Pick<AgentDependencies, 'db' | 'newId' | 'log' | 'patienceMs'>,
  { turnId, epoch, sessionId, budgetId, owner, tenant }: TurnFacts,
  model: ModelInfo,
  call: Pick<ModelCallToOpen, 'step' | 'attempt' | 'purpose' | 'contextReport'>,
): Promise<string> {
  const row: ModelCallToOpen = {
    id: deps.newId(),
    turnId,
    epoch,
    sessionId,
    budgetId,
    owner,
    tenant,
    model: model.id,
    inputPrice: priceText(model, 'input'),
    cachedInputPrice: priceText(model, 'cachedInput'),
    outputPrice: priceText(model, 'output'),
    ...call,
  };
  const opened = await patiently(deps, turnId, 'a model call could not be opened yet', () =>
    openModelCall(deps.db, row),
  );
  if (!opened) throw new OwnershipLost();
  return row.id;
}
