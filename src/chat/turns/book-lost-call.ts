import { promptTail } from '../../agent/assessment/next-step.js';
import { type Reserved, settleFigures } from '../../agent/call-figures.js';
import { buildRequest } from '../../agent/context/build-request.js';
import { summaryRequest } from '../../agent/context/make-summary.js';
import { modelCallTrace } from '../../agent/traces.js';
import { stateOf } from '../../agent/turn-state.js';
import { worstCase } from '../../agent/worst-case.js';
import { bookFailedCall } from '../../db/queries/book-failed-call.js';
import { bookSummary } from '../../db/queries/book-summary.js';
import type { LostCall, OwnedTurn } from '../../db/queries/owned-turn.js';
import { ChatError } from '../../errors.js';
import type { ModelInfo } from '../../model/catalog.js';
import { exact } from '../../model/cost.js';
import type { ModelRequest } from '../../model/port.js';
import { estimateUsage } from '../../model/tokens.js';
import type { TurnDependencies } from './dependencies.js';

/** The model of a lost call, at the prices that held when the call was made. */
function modelOf(deps: TurnDependencies, call: LostCall): ModelInfo {
  const { inputPrice, cachedInputPrice, outputPrice } = call;
  const known = deps.catalog.find(call.model);
  return {
    id: call.model,
    contextWindow: known?.contextWindow ?? 128_000,
    maxOutputTokens: known?.maxOutputTokens ?? null,
    prices:
      inputPrice === null || outputPrice === null
        ? null
        : {
            input: exact(inputPrice),
            cachedInput: exact(cachedInputPrice ?? inputPrice),
            output: exact(outputPrice),
          },
    takesTools: known?.takesTools ?? true,
    isDemo: false,
  };
}

/** The request that a lost call has made, as far as it can be told: the same that its turn would make now. */
async function lostRequest(
  deps: TurnDependencies,
  owned: OwnedTurn,
  call: LostCall,
  model: ModelInfo,
): Promise<ModelRequest> {
  const { facts } = owned;
  const { goesOn, partial } = stateOf(owned);
  const tail = promptTail(goesOn, partial?.kept ?? '');
  const asker = { ...deps, db: deps.database.pool };
  let summary: ModelRequest | null = null;
  try {
    if (call.purpose === 'ANSWER') return (await buildRequest(asker, facts, model, tail)).request;
    const own = deps.catalog.find(facts.model) ?? model;
    const built = await buildRequest(asker, facts, own, tail, async (_history, source) => {
      summary = summaryRequest(model, source);
      return null;
    });
    return summary ?? built.request;
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    // The turn ends for this very reason as soon as it is run on, so it has to be run on.
    return { model: model.id, messages: [], temperature: null, maxOutputTokens: null };
  }
}

/**
 * What a lost call has reserved: an estimate must not come to more, also when its request cannot be told any more, since
 * its session has other settings by now. One of an older version has no hold.
 */
function reservedBy({ heldTokens: total }: LostCall, model: ModelInfo, request: ModelRequest): Reserved {
  if (total === 0) return {};
  const { inputTokens } = worstCase(model, request, estimateUsage(request, '').inputTokens);
  return { output: Math.max(0, total - inputTokens), total };
}

/** The provider has worked on a lost call and bills it, so it is booked by an estimate. False when the turn is lost. */
export async function bookLostCall(
  deps: TurnDependencies,
  owned: OwnedTurn,
  call: LostCall,
  thinking: string,
): Promise<boolean> {
  const { facts } = owned;
  const model = modelOf(deps, call);
  const isAnswer = call.purpose === 'ANSWER';
  const request = await lostRequest(deps, owned, call, model);
  const now = deps.now();
  const figures = settleFigures(
    {
      id: call.id,
      status: 'FAILED',
      usage: null,
      output: isAnswer ? thinking + (stateOf(owned).partial?.lost ?? '') : '',
      startedAt: new Date(now.getTime() - call.ageMs),
      firstTokenAt: null,
      error: { code: 'INTERRUPTED', retryable: true },
    },
    request,
    model,
    now,
    reservedBy(call, model, request),
  );
  const data = modelCallTrace(figures, call.model, call.attempt, null);
  if (isAnswer) return bookFailedCall(deps.database.pool, facts, figures, { id: deps.newId(), data });
  // It counts as tried, so the turn does without.
  const trace = { id: deps.newId(), data: { ...data, purpose: 'SUMMARY' } };
  return bookSummary(deps.database.pool, facts, figures, trace, null);
}
