import { type ModelCallToOpen, openModelCall } from '../db/queries/open-model-call.js';
import type { TightestLimit } from '../db/queries/tightest-limit.js';
import type { TurnFacts } from '../db/queries/turn-facts.js';
import type { ReachedLimit } from '../events/reached-limit.js';
import type { ModelInfo } from '../model/catalog.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost } from './ends.js';
import { patiently } from './patience.js';
import { leastCostUsd, type WorstCase } from './worst-case.js';

/** What has become of the wish to make a call. */
export type CallOpening =
  | {
      readonly kind: 'opened';
      /** Of its ledger row. */
      readonly id: string;
      /** Output tokens that are reserved for it. */
      readonly outputTokens: number;
      /** The limit that allows fewer of them than were wanted; null when none does. */
      readonly cutBy: BudgetStop | null;
    }
  | { readonly kind: 'refused'; readonly by: BudgetStop };

/** A budget that allows no call, or not all of a reply. */
export interface BudgetStop {
  readonly reached: ReachedLimit;
  readonly isPriceUnknown: boolean;
}

/** A price as the ledger takes it; null when it is unknown. */
const priceText = (model: ModelInfo, kind: 'input' | 'cachedInput' | 'output') =>
  model.prices?.[kind].toFixed(8) ?? null;

/** The stop that a limit makes, with its figures as numbers and with what the call needed. */
export function stopBy(
  { scope, kind, limit, spent, held, isPriceUnknown }: TightestLimit,
  model: ModelInfo,
  worst: WorstCase,
): BudgetStop {
  const reached: ReachedLimit = {
    scope,
    kind,
    limit: Number(limit),
    spent: Number(spent),
    held: Number(held),
    needed: kind === 'COST' ? leastCostUsd(model, worst) : worst.inputTokens + worst.leastOutput,
  };
  return { reached, isPriceUnknown };
}

/**
 * Writes the ledger row of a request that a turn is about to make, with the prices of this moment, and reserves what it may
 * come to in every budget concerned.
 *
 * @throws OwnershipLost when the turn was taken over, and the error of a database that stayed away.
 */
export async function openCall(
  deps: Pick<AgentDependencies, 'db' | 'newId' | 'log' | 'patienceMs'>,
  { turnId, epoch, sessionId, budgetId, owner, tenant }: TurnFacts,
  model: ModelInfo,
  worst: WorstCase,
  call: Pick<ModelCallToOpen, 'step' | 'attempt' | 'purpose' | 'contextReport'>,
): Promise<CallOpening> {
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
    ...worst,
    ...call,
  };
  const opened = await patiently(deps, turnId, 'a model call could not be opened yet', () =>
    openModelCall(deps.db, row),
  );
  switch (opened.kind) {
    case 'lost':
      throw new OwnershipLost();
    case 'opened': {
      const { outputTokens, tightest } = opened;
      const isCut = outputTokens < worst.wantedOutput;
      return {
        kind: 'opened',
        id: row.id,
        outputTokens,
        cutBy: isCut && tightest ? stopBy(tightest, model, worst) : null,
      };
    }
    case 'refused':
      return { kind: 'refused', by: stopBy(opened.tightest, model, worst) };
  }
}
