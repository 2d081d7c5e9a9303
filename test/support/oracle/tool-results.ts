import type { StoredMessage } from './read-database.js';
import type { Run } from './run.js';

const open = new Set(['PENDING', 'RUNNING']);

/** Every round of calls is answered whole before anything else is said, and nothing else is answered. */
function pairProblems(messages: readonly StoredMessage[]): string[] {
  const problems: string[] = [];
  let unanswered = new Set<string>();
  for (const { id, role, calls, toolCallId } of messages) {
    if (role === 'TOOL') {
      if (!unanswered.delete(toolCallId ?? '')) problems.push(`message ${id} answers no open call: ${toolCallId}`);
      continue;
    }
    for (const callId of unanswered) problems.push(`call ${callId} has no result before message ${id}`);
    unanswered = new Set(calls);
  }
  for (const callId of unanswered) problems.push(`call ${callId} has no result`);
  return problems;
}

/**
 * I6: each tool call has exactly one result, and no result lacks its call. A tool that may not run twice was run once at
 * most for each call, as its own ledger says.
 */
export function toolProblems({ sessions, effects }: Run): string[] {
  const problems: string[] = [];
  for (const { id, messages, toolCalls } of sessions) {
    const placed = messages.filter(({ sequence }) => sequence > 0);
    problems.push(...pairProblems(placed).map((problem) => `${id}: ${problem}`));
    for (const { callId, status } of toolCalls) {
      if (open.has(status)) problems.push(`${id}: call ${callId} is still ${status}`);
    }
  }
  const known = new Set(sessions.flatMap(({ toolCalls }) => toolCalls.map((call) => call.id)));
  for (const { callId, idempotent, runs } of effects) {
    if (!idempotent && runs > 1) problems.push(`call ${callId} must not run twice and ran ${runs} times`);
    if (!known.has(callId)) problems.push(`a tool ran for call ${callId}, which is not stored`);
  }
  return problems;
}
