import { promptTail } from '../../agent/assessment/next-step.js';
import { settleFigures } from '../../agent/call-figures.js';
import { buildRequest } from '../../agent/context/build-request.js';
import { modelCallTrace } from '../../agent/traces.js';
import { stateOf } from '../../agent/turn-state.js';
import { bookFailedCall } from '../../db/queries/book-failed-call.js';
import { type LostCall, loadOwnedTurn, type OwnedTurn } from '../../db/queries/owned-turn.js';
import type { ModelInfo } from '../../model/catalog.js';
import { exact } from '../../model/cost.js';
import { type ClaimedTurn, claimTurns } from './claim-turns.js';
import type { TurnDependencies } from './dependencies.js';
import { resumeTurn } from './execute-turn.js';

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

/** The provider has worked on a lost call and bills it, so it is booked by an estimate. False when the turn is lost. */
async function bookLostCall(deps: TurnDependencies, owned: OwnedTurn, call: LostCall, thinking: string) {
  const { facts } = owned;
  const { goesOn, partial } = stateOf(owned);
  const model = modelOf(deps, call);
  const tail = promptTail(goesOn, partial?.kept ?? '');
  const { request } = await buildRequest({ ...deps, db: deps.database.pool }, facts, model, tail);
  const now = deps.now();
  const figures = settleFigures(
    {
      id: call.id,
      status: 'FAILED',
      usage: null,
      output: thinking + (partial?.lost ?? ''),
      startedAt: new Date(now.getTime() - call.ageMs),
      firstTokenAt: null,
      error: { code: 'INTERRUPTED', retryable: true },
    },
    request,
    model,
    now,
  );
  const trace = { id: deps.newId(), data: modelCallTrace(figures, call.model, call.attempt, null) };
  return bookFailedCall(deps.database.pool, facts, figures, trace);
}

async function takeUp(deps: TurnDependencies, { turnId, epoch, lostThinking }: ClaimedTurn): Promise<void> {
  const owned = await loadOwnedTurn(deps.database.pool, turnId, epoch);
  if (!owned) return;
  if (owned.lostCall && !(await bookLostCall(deps, owned, owned.lostCall, lostThinking))) return;
  const { abort } = resumeTurn(deps, owned);
  deps.log.warn(
    { turnId, attempt: owned.attempts, from: stateOf(owned).step },
    abort.signal.aborted
      ? 'turn was found without an owner and is ended'
      : 'turn was found without an owner and goes on here',
  );
}

/**
 * Takes over turns whose process is gone, or has handed them over, and runs them on.
 *
 * @param exclusive no other process can use the database, so that every lease found is a dead one's.
 */
export async function recoverTurns(deps: TurnDependencies, exclusive: boolean): Promise<void> {
  // What could not be taken up is left to the next round: claiming it again at once would not help.
  const tried: string[] = [];
  while (!deps.isClosing()) {
    const turns = await claimTurns(deps, exclusive, [...deps.live.ids(), ...tried]);
    if (turns.length === 0) return;
    await deps.failpoint('after-claim');
    for (const turn of turns) {
      tried.push(turn.turnId);
      await takeUp(deps, turn).catch((error) => {
        deps.log.error({ turnId: turn.turnId, err: error }, 'abandoned turn could not be taken up yet');
      });
    }
  }
}
