import { groupBy } from './group-by.js';
import type { StoredMessage, StoredSession } from './read-database.js';
import type { Run, SentMessage } from './run.js';

interface Placed extends SentMessage {
  readonly sequence: number;
}

/** A text is usually sent once; `regenerate` sends it again. */
function countProblem(text: string, sent: readonly SentMessage[], stored: readonly StoredMessage[]): string | null {
  const acknowledged = sent.filter(({ acknowledgedAt }) => acknowledgedAt !== null).length;
  if (stored.length > sent.length)
    return `"${text}" is stored ${stored.length} times and was sent ${sent.length} times`;
  if (stored.length < acknowledged) return `"${text}" was acknowledged and is gone`;
  return null;
}

function orderProblems(placed: readonly Placed[]): string[] {
  return placed.flatMap((earlier) =>
    placed
      .filter((later) => earlier.acknowledgedAt !== null && earlier.acknowledgedAt <= later.sentAt)
      .filter((later) => earlier.sequence > later.sequence)
      .map((later) => `"${later.text}" was sent after "${earlier.text}" was acknowledged, and stands before it`),
  );
}

function sessionProblems(session: StoredSession, sent: readonly SentMessage[]): string[] {
  const problems: string[] = [];
  const stored = session.messages.filter(({ role, seeded }) => role === 'USER' && !seeded);
  const storedByText = groupBy(stored, ({ content }) => content);
  const sentByText = groupBy(sent, ({ text }) => text);
  for (const [text, own] of sentByText) {
    const there = storedByText.get(text) ?? [];
    const problem = countProblem(text, own, there);
    if (problem) problems.push(problem);
    for (const { turnId } of own) {
      if (turnId !== null && there.length > 0 && !there.some((message) => message.turnId === turnId)) {
        problems.push(`"${text}" was told as turn ${turnId} and is stored under ${there[0]?.turnId}`);
      }
    }
  }
  for (const text of storedByText.keys()) if (!sentByText.has(text)) problems.push(`nobody sent "${text}"`);
  const placed = sent.flatMap((message) => {
    const [first, ...others] = storedByText.get(message.text) ?? [];
    return first && others.length === 0 ? [{ ...message, sequence: first.sequence }] : [];
  });
  return [...problems, ...orderProblems(placed)].map((problem) => `${session.id}: ${problem}`);
}

/**
 * I1: each acknowledged message is stored exactly once, under the turn that was told, and in the order of
 * acknowledgement: what was sent after another one was acknowledged stands behind it. What was not acknowledged may be
 * there or not, but not twice. And nothing is there that nobody sent. Sessions that the run did not use are left alone.
 */
export function messageProblems({ sessions, sent }: Run): string[] {
  const bySession = groupBy(sent, ({ sessionId }) => sessionId);
  const there = new Set(sessions.map(({ id }) => id));
  const gone = sent.filter(({ sessionId, acknowledgedAt }) => acknowledgedAt !== null && !there.has(sessionId));
  return [
    ...gone.map(({ sessionId, text }) => `${sessionId} is gone, with "${text}"`),
    ...sessions.flatMap((session) => {
      const own = bySession.get(session.id);
      return own ? sessionProblems(session, own) : [];
    }),
  ];
}
