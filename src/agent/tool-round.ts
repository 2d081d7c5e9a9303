import type { StoredToolCall } from '../db/queries/owned-turn.js';
import { startToolCall } from '../db/queries/start-tool-call.js';
import type { ToolResult } from '../db/queries/store-tool-result.js';
import { askUser } from './ask-user.js';
import { type CallPlan, planCall } from './call-plan.js';
import type { AgentDependencies } from './dependencies.js';
import type { RunningTurn } from './running-turn.js';
import { isOpen } from './tool-calls.js';
import { closeCall, noResult } from './tool-results.js';
import { resultLimit, resultText } from './tools/result-text.js';
import { runTool, type ToolRun } from './tools/run-tool.js';
import { ToolFailure } from './tools/tool-failure.js';
import type { TurnJournal } from './turn-journal.js';

interface Round {
  readonly deps: AgentDependencies;
  readonly turn: RunningTurn;
  readonly journal: TurnJournal;
  readonly step: number;
}

interface PlannedCall {
  readonly call: StoredToolCall;
  readonly plan: CallPlan;
}

/** The result of a run that came to one. */
function resultOf(
  { deps, turn }: Round,
  call: StoredToolCall,
  run: Exclude<ToolRun, { kind: 'aborted' }>,
  durationMs: number,
): ToolResult {
  const fail = (code: string, text: string) => noResult('FAILED', code, text, durationMs);
  const limit = resultLimit(deps.findModel(turn.facts.model)?.contextWindow ?? 0);
  const note = (error: unknown) =>
    deps.log.warn({ turnId: turn.facts.turnId, tool: call.name, toolCallId: call.id, err: error }, 'tool failed');
  if (run.kind === 'timedOut') return fail('TIMEOUT', 'The tool did not end in time and was cut off.');
  if (run.kind === 'threw') {
    if (run.error instanceof ToolFailure) return fail(run.error.code, resultText(run.error.message, limit));
    note(run.error);
    return fail('TOOL_ERROR', 'The tool failed.');
  }
  try {
    return { status: 'SUCCEEDED', errorCode: null, result: resultText(run.value, limit), durationMs };
  } catch (error) {
    note(error);
    return fail('BAD_RESULT', 'The tool gave something that is no text and no JSON.');
  }
}

/** Runs a call's tool. Gives the call as it is then: open still when the turn was cut off under it. */
async function execute(
  round: Round,
  call: StoredToolCall,
  plan: Extract<CallPlan, { kind: 'run' }>,
): Promise<StoredToolCall> {
  const { deps, turn, journal, step } = round;
  const { turnId, epoch, sessionId } = turn.facts;
  const { id: toolCallId } = call;
  // A call that is run again was told by the owner before.
  const isTold = call.status === 'RUNNING';
  await journal.write(isTold ? [] : [{ type: 'ToolCallStarted', step, toolCallId }], null, (layout) =>
    startToolCall(deps.db, { turnId, epoch, toolCallId, layout }),
  );
  const running: StoredToolCall = { ...call, status: 'RUNNING' };
  const startedAt = deps.now().getTime();
  const run = await runTool(plan.tool, plan.value, { signal: turn.signal, sessionId, turnId, toolCallId });
  if (run.kind === 'aborted') return running;
  await deps.failpoint('after-tool-effect');
  const result = resultOf(round, call, run, Math.max(0, deps.now().getTime() - startedAt));
  await closeCall(deps, turn, journal, step, running, result);
  return { ...running, status: result.status };
}

async function carryOut(round: Round, { call, plan }: PlannedCall): Promise<StoredToolCall> {
  if (round.turn.signal.aborted) return call;
  if (plan.kind === 'run') return execute(round, call, plan);
  if (plan.kind !== 'close') return call;
  const { deps, turn, journal, step } = round;
  await closeCall(deps, turn, journal, step, call, plan.result);
  return { ...call, status: plan.result.status };
}

const isWrite = ({ plan }: PlannedCall) => plan.kind === 'run' && plan.tool.sideEffect === 'write';

/** Neighbours that may run at the same time; a tool that writes has a stretch of its own. */
function stretches(calls: readonly PlannedCall[]): PlannedCall[][] {
  const all: PlannedCall[][] = [];
  let isOpenStretch = false;
  for (const planned of calls) {
    if (isWrite(planned) || !isOpenStretch) all.push([]);
    all.at(-1)?.push(planned);
    isOpenStretch = !isWrite(planned);
  }
  return all;
}

/** All of them, also when one fails: nothing of a turn may still be written when its run is over. */
async function allOf(work: readonly Promise<StoredToolCall>[]): Promise<StoredToolCall[]> {
  const settled = await Promise.allSettled(work);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/**
 * Brings the open calls of a step to their results: runs tools, refuses what cannot be run, and at last asks the user
 * what is to be asked. Ends early when the turn is cut off; then some calls are open still.
 *
 * @throws OwnershipLost, and the error of a database that stayed away.
 */
export async function runToolRound(
  deps: AgentDependencies,
  turn: RunningTurn,
  journal: TurnJournal,
  step: number,
  calls: readonly StoredToolCall[],
): Promise<{ readonly isParked: boolean; readonly open: readonly StoredToolCall[] }> {
  const round = { deps, turn, journal, step };
  const tools = deps.tools.allowed(turn.facts.toolNames);
  const planned = calls.filter(isOpen).map((call) => ({ call, plan: planCall(call, tools) }));
  const after: StoredToolCall[] = [];
  for (const stretch of stretches(planned)) {
    after.push(...(await allOf(stretch.map((one) => carryOut(round, one)))));
  }
  const open = after.filter(isOpen);
  if (turn.signal.aborted || open.length === 0) return { isParked: false, open };
  const questions = planned.flatMap(({ call, plan }) =>
    plan.kind === 'ask' ? [{ call, question: plan.question }] : [],
  );
  return { isParked: await askUser(deps, turn, journal, step, questions), open };
}
