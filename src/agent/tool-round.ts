import type { StoredToolCall } from '../db/queries/owned-turn.js';
import { findRepeatedCalls } from '../db/queries/repeated-calls.js';
import { type CallPlan, mostFailures, planCall } from './call-plan.js';
import type { AgentDependencies } from './dependencies.js';
import { patiently } from './patience.js';
import { requestInput } from './request-input.js';
import { limitOf, type Round, runCall } from './run-call.js';
import type { RunningTurn } from './running-turn.js';
import { isOpen } from './tool-calls.js';
import { closeCall } from './tool-results.js';
import { callableTools } from './tools/find-tools.js';
import type { TurnJournal } from './turn-journal.js';

interface PlannedCall {
  readonly call: StoredToolCall;
  readonly plan: CallPlan;
}

/** Decides about the open calls of a step. */
async function planCalls({ deps, turn, step }: Round, calls: readonly StoredToolCall[]): Promise<PlannedCall[]> {
  const tools = callableTools(deps.tools, turn.facts);
  const limit = limitOf(deps, turn);
  const ids = calls.map(({ id }) => id);
  const { turnId } = turn.facts;
  const look = () => findRepeatedCalls(deps.db, turnId, ids, mostFailures);
  const repeated =
    step > 1 ? await patiently(deps, turnId, 'earlier calls could not be looked up yet', look) : new Set<string>();
  return calls.map((call) => ({
    call,
    plan: planCall(call, { tools, limit, isLastStep: step >= turn.facts.maxSteps, isRepeated: repeated.has(call.id) }),
  }));
}

async function carryOut(round: Round, { call, plan }: PlannedCall): Promise<StoredToolCall> {
  if (round.turn.signal.aborted) return call;
  if (plan.kind === 'run') return runCall(round, call, plan);
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
  const planned = await planCalls(round, calls.filter(isOpen));
  const after: StoredToolCall[] = [];
  for (const stretch of stretches(planned)) {
    after.push(...(await allOf(stretch.map((one) => carryOut(round, one)))));
  }
  const open = after.filter(isOpen);
  if (turn.signal.aborted || open.length === 0) return { isParked: false, open };
  const asking = planned.flatMap(({ call, plan }) => (plan.kind === 'ask' ? [{ call, input: plan.input }] : []));
  return { isParked: await requestInput(round, asking), open };
}
