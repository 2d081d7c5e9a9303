import type { StoredToolCall } from '../db/queries/owned-turn.js';
import { storeToolResult, type ToolResult } from '../db/queries/store-tool-result.js';
import type { TurnEventBody } from '../events/event.js';
import type { AgentDependencies } from './dependencies.js';
import { type CallOutcome, diagnose, withAdvice } from './diagnosis/diagnose.js';
import { StopRequested } from './ends.js';
import type { RunningTurn } from './running-turn.js';
import { diagnosisTrace, toolCallTrace } from './traces.js';
import type { TurnJournal } from './turn-journal.js';

/** A result that tells the model why there is none. */
export const noResult = (
  status: 'FAILED' | 'DENIED' | 'INTERRUPTED',
  errorCode: string,
  result: string,
  durationMs: number | null = null,
): ToolResult => ({ status, errorCode, result, durationMs });

/** Of a call whose tool was at work when its process was lost. */
export const outcomeUnknown = noResult(
  'INTERRUPTED',
  'OUTCOME_UNKNOWN',
  'interrupted, outcome unknown: the tool may or may not have done its work. Do not simply call it again.',
);

/** Of a call that the end of its turn cuts off. */
export const interruptedBy = (reason: unknown): ToolResult =>
  reason instanceof StopRequested
    ? noResult('INTERRUPTED', 'STOPPED', 'interrupted: the user stopped the turn before this call had a result.')
    : noResult('INTERRUPTED', 'INTERRUPTED', 'interrupted: the turn ended before this call had a result.');

/** What is to be told of an open call before anything else is: that it is asked for no more, and that it has begun. */
export function untoldOf({ id: toolCallId, status, input }: StoredToolCall, step: number): TurnEventBody[] {
  const events: TurnEventBody[] = [];
  // An approved call has begun when that it was approved was told.
  if (input && !(input.kind === 'APPROVAL' && status === 'RUNNING')) {
    events.push({ type: 'InputResolved', requestId: input.requestId });
  }
  if (status === 'PENDING') events.push({ type: 'ToolCallStarted', step, toolCallId });
  return events;
}

/** Stores the result of a call and tells it, with all that has not been told of the call so far. */
export async function closeCall(
  deps: AgentDependencies,
  turn: RunningTurn,
  journal: TurnJournal,
  step: number,
  call: StoredToolCall,
  given: CallOutcome,
): Promise<void> {
  const { turnId, epoch } = turn.facts;
  const diagnosis = await diagnose(deps, turn, call, given);
  const result = diagnosis ? withAdvice(given, diagnosis) : given;
  const { id: toolCallId } = call;
  const events: TurnEventBody[] = [...untoldOf(call, step), { type: 'ToolCallCompleted', step, toolCallId }];
  if (diagnosis) {
    const { category, suggestion } = diagnosis;
    events.push({ type: 'DiagnosisReported', step, callId: call.callId, category, suggestion });
  }
  const ids = { messageId: deps.newId(), withdrawalTraceId: deps.newId() };
  const traces = [
    { id: deps.newId(), type: 'TOOL_CALL', data: toolCallTrace(call, result) },
    ...(diagnosis ? [{ id: deps.newId(), type: 'DIAGNOSIS', data: diagnosisTrace(call, diagnosis) }] : []),
  ];
  await journal.write(events, 'after-tool-result', (layout) =>
    storeToolResult(deps.db, { turnId, epoch, toolCallId, ...result, ...ids, layout, traces }),
  );
}
