import { settleFigures } from '../../agent/call-figures.js';
import { buildPrompt } from '../../agent/prompt.js';
import { endTraces } from '../../agent/traces.js';
import { failed } from '../../agent/verdict.js';
import { type AbandonedTurn, claimAbandonedTurns } from '../../db/queries/claim-abandoned-turns.js';
import type { SettledCall } from '../../db/queries/settled-call.js';
import type { ModelInfo } from '../../model/catalog.js';
import { exact } from '../../model/cost.js';
import type { ChatDependencies } from '../dependencies.js';
import type { LiveTurns } from './live-turns.js';
import { settle } from './settle.js';

type Dependencies = ChatDependencies & { readonly live: LiveTurns };

/** The model of a lost call as far as its figures need it, at the prices that held when the call was made. */
function modelOf(call: NonNullable<AbandonedTurn['call']>): ModelInfo {
  const { inputPrice, cachedInputPrice, outputPrice } = call;
  return {
    id: call.model,
    contextWindow: Number.MAX_SAFE_INTEGER,
    maxOutputTokens: null,
    prices:
      inputPrice === null || outputPrice === null
        ? null
        : {
            input: exact(inputPrice),
            cachedInput: exact(cachedInputPrice ?? inputPrice),
            output: exact(outputPrice),
          },
    isDemo: false,
  };
}

/** The provider has worked on a lost call and bills it, so it is booked by an estimate. */
async function estimateLostCall(deps: Dependencies, turn: AbandonedTurn): Promise<SettledCall | null> {
  if (!turn.call) return null;
  const model = modelOf(turn.call);
  const { messages } = await buildPrompt(deps.database.pool, { ...turn, maxOutputTokens: null }, model);
  const thinking = turn.layout.map((entry) => (entry.type === 'thinking' ? entry.text : '')).join('');
  const now = deps.now();
  return settleFigures(
    {
      id: turn.call.id,
      status: 'FAILED',
      usage: null,
      output: thinking + (turn.reply?.content ?? ''),
      startedAt: new Date(now.getTime() - turn.call.ageMs),
      firstTokenAt: null,
      error: { code: 'INTERRUPTED', retryable: true },
    },
    { model: model.id, messages, temperature: null, maxOutputTokens: null },
    model,
    now,
  );
}

async function endAbandoned(deps: Dependencies, turn: AbandonedTurn): Promise<void> {
  const call = await estimateLostCall(deps, turn);
  const verdict = failed('INTERRUPTED');
  const { replyStatus, ...outcome } = verdict;
  const traces = endTraces({
    number: turn.number,
    verdict,
    call: call && { figures: call, model: turn.call?.model ?? '', attempt: 1, finishReason: null },
  });
  const end = {
    turnId: turn.turnId,
    epoch: turn.epoch,
    ...outcome,
    reply: turn.reply && { ...turn.reply, status: replyStatus },
    call,
    layout: [...turn.layout, { type: 'end', at: deps.now().getTime() }] as const,
    traces: traces.map((trace) => ({ id: deps.newId(), ...trace })),
  };
  if (await settle(deps, end, turn, 0)) {
    deps.log.warn({ turnId: turn.turnId }, 'turn was found without an owner and ended as interrupted');
  }
}

/**
 * Ends turns whose process is gone as FAILED with INTERRUPTED, keeping what had been written of the reply and booking
 * the call that was under way. `exclusive`: see claimAbandonedTurns.
 */
export async function recoverTurns(deps: Dependencies, exclusive: boolean): Promise<void> {
  const { processId: owner, settings } = deps;
  // What could not be ended is left to the next round: claiming it again at once would not help.
  const tried: string[] = [];
  for (;;) {
    const running = [...deps.live.ids(), ...tried];
    const claimer = { owner, leaseMs: settings.leaseMs, exclusive, running };
    const turns = await claimAbandonedTurns(deps.database.pool, claimer);
    if (turns.length === 0) return;
    await deps.failpoint('after-claim');
    for (const turn of turns) {
      tried.push(turn.turnId);
      await endAbandoned(deps, turn).catch((error) => {
        deps.log.error({ turnId: turn.turnId, err: error }, 'abandoned turn could not be ended yet');
      });
    }
  }
}
