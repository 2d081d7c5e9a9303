import type { StoredSession } from './read-database.js';
import type { Run } from './run.js';

const waiting = 'QUEUED';
const over = new Set(['COMPLETED', 'FAILED', 'STOPPED']);

function duplicates(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.has(value) || !seen.add(value));
}

function sessionProblems({ id, turns, messages, modelCalls, turnCount, lastMessageSequence }: StoredSession): string[] {
  const problems: string[] = [];
  const running = turns.filter(({ status }) => status !== waiting && !over.has(status));
  if (running.length > 1) problems.push(`${running.length} turns run at once`);
  for (const turn of turns) {
    // A queued turn that is stopped never had an owner.
    const owned =
      messages.some(({ turnId, role }) => turnId === turn.id && role === 'ASSISTANT') || turn.status === 'COMPLETED';
    if (owned && turn.epoch < 1) problems.push(`turn ${turn.id} ran without an owner`);
    if (turn.attempts < 0 || turn.attempts > turn.epoch) {
      problems.push(`turn ${turn.id} has ${turn.attempts} attempts in ${turn.epoch} epochs`);
    }
  }
  const replies = messages.filter(({ role, turnId }) => role === 'ASSISTANT' && turnId !== null);
  for (const step of duplicates(replies.map(({ turnId, step }) => `${turnId}, step ${step}`))) {
    problems.push(`two owners have written a message of turn ${step}`);
  }
  for (const { id: messageId, status } of messages) {
    if (status === 'STREAMING') problems.push(`message ${messageId} is still being written`);
  }
  const succeeded = modelCalls.filter(({ status }) => status === 'SUCCEEDED');
  for (const step of duplicates(succeeded.map((call) => `${call.turnId}, step ${call.step}`))) {
    problems.push(`two calls of one step have succeeded: ${step}`);
  }
  const numbers = turns.map(({ number }) => number);
  if (numbers.some((number, at) => number !== at + 1) || turnCount !== turns.length) {
    problems.push(`its ${turnCount} turns are numbered ${numbers.join(', ')}`);
  }
  const places = messages.map(({ sequence }) => sequence).filter((sequence) => sequence > 0);
  if (places.some((place, at) => place !== at + 1) || lastMessageSequence !== places.length) {
    problems.push(`its ${lastMessageSequence} messages stand at ${places.join(', ')}`);
  }
  return problems.map((problem) => `${id}: ${problem}`);
}

/**
 * I8: no two owners have run one turn at a time, as far as rows can tell: one turn of a session runs, every step was
 * written by one owner, counters and numbers are without holes, epochs and attempts are possible.
 */
export function ownershipProblems({ sessions }: Run): string[] {
  return sessions.flatMap(sessionProblems);
}
