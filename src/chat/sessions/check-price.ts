import type { Principal } from '../../auth/principal.js';
import { hasOperatorCostLimit } from '../../db/queries/operator-budgets.js';
import { ChatError } from '../../errors.js';
import type { ModelInfo } from '../../model/catalog.js';
import type { ChatDependencies } from '../dependencies.js';

/**
 * A limit on cost can only be kept for a model whose price is known.
 *
 * @param maxCostUsd the limit of the session's budget; null is none
 * @throws ChatError MODEL_PRICE_UNKNOWN.
 */
export async function checkPriceKnown(
  { database }: Pick<ChatDependencies, 'database'>,
  principal: Principal,
  model: ModelInfo,
  maxCostUsd: string | null,
): Promise<void> {
  if (model.prices !== null) return;
  const unknown = (remedy: string) =>
    new ChatError(
      'MODEL_PRICE_UNKNOWN',
      `The price of ${model.id} is unknown, so a limit on cost cannot be kept: ${remedy}.`,
    );
  if (maxCostUsd !== null) {
    throw unknown('let the operator set its price in MODELS, or set budget.maxCostUsd to null');
  }
  if (await hasOperatorCostLimit(database.pool, principal)) {
    throw unknown('the operator has limited what you may spend, and has to set its price in MODELS');
  }
}
