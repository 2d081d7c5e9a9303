import type { StoredToolCall } from '../db/queries/owned-turn.js';
import { startToolCall } from '../db/queries/start-tool-call.js';
import type { ToolResult } from '../db/queries/store-tool-result.js';
import { type Backoff, backoffMs } from '../model/backoff.js';
import { wait } from '../model/retry.js';
import type { CallPlan } from './call-plan.js';
import type { AgentDependencies } from './dependencies.js';
import type { CallOutcome } from './diagnosis/diagnose.js';
import type { RunningTurn } from './running-turn.js';
import { closeCall, noResult, untoldOf } from './tool-results.js';
import { resultLimit, resultText } from './tools/result-text.js';
import { failureOf, mayPass } from './tools/run-failure.js';
import { runTool } from './tools/run-tool.js';
import type { TurnJournal } from './turn-journal.js';

/** The calls of one step, on their way to their results. */
export interface Round {
  readonly deps: AgentDependencies;
  readonly turn: RunningTurn;
  readonly journal: TurnJournal;
  readonly step: number;
}

const backoff: Backoff = { firstMs: 200, longestMs: Number.POSITIVE_INFINITY };

/** Longest result for the model of this turn, in UTF-16 units. */
export const limitOf = (deps: AgentDependencies, { facts }: RunningTurn): number =>
  resultLimit(deps.findModel(facts.model)?.contextWindow ?? 0);

const note = ({ deps, turn }: Round, call: StoredToolCall, error: unknown) =>
  deps.log.warn({ turnId: turn.facts.turnId, tool: call.name, toolCallId: call.id, err: error }, 'tool failed');

/** The result of a call whose tool gave something. */
function returned(round: Round, call: StoredToolCall, limit: number, value: unknown, durationMs: number): ToolResult {
  try {
    return {
      status: 'SUCCEEDED',
      errorCode: null,
      result: resultText(value, limit),
      durationMs,
    };
  } catch (error) {
    note(round, call, error);
    return noResult('FAILED', 'BAD_RESULT', 'The tool gave something that is no text and no JSON.', durationMs);
  }
}

/** Waits before another attempt, less when the turn is cut off. */
async function pause({ deps, turn }: Round, attempt: number): Promise<void> {
  await wait(backoffMs(backoff, attempt, deps.random()), turn.signal).catch(() => {});
}

/**
 * Runs a call's tool, again when an attempt was lost on the way and it may be run twice. Gives the call as it is then:
 * open still when the turn was cut off under it.
 */
export async function runCall(
  round: Round,
  call: StoredToolCall,
  { tool, value }: Extract<CallPlan, { kind: 'run' }>,
): Promise<StoredToolCall> {
  const { deps, turn, journal, step } = round;
  const { turnId, epoch, sessionId } = turn.facts;
  const { id: toolCallId } = call;
  let untold = untoldOf(call, step);
  const running: StoredToolCall = { ...call, status: 'RUNNING' };
  const limit = Math.min(limitOf(deps, turn), tool.resultLimit ?? Number.POSITIVE_INFINITY);
  const startedAt = deps.now().getTime();
  const elapsedMs = () => Math.max(0, deps.now().getTime() - startedAt);
  for (let attempt = 1; ; attempt += 1) {
    await journal.write(untold, null, (layout) => startToolCall(deps.db, { turnId, epoch, toolCallId, layout }));
    untold = [];
    const run = await runTool(tool, value, { signal: turn.signal, sessionId, turnId, toolCallId });
    if (run.kind === 'aborted') return running;
    await deps.failpoint('after-tool-effect');
    let result: CallOutcome;
    if (run.kind === 'returned') {
      result = returned(round, call, limit, run.value, elapsedMs());
    } else {
      const failure = failureOf(run, tool.idempotent);
      if (failure.isFault && run.kind === 'threw') note(round, call, run.error);
      if (mayPass(failure) && attempt <= tool.retries) {
        await pause(round, attempt);
        if (turn.signal.aborted) return running;
        continue;
      }
      const text = resultText(failure.text, limit);
      result = { ...noResult('FAILED', failure.code, text, elapsedMs()), failure: failure.category };
    }
    await closeCall(deps, turn, journal, step, running, result);
    return { ...running, status: result.status };
  }
}
