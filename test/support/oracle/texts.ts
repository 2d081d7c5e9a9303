import type { StoredMessage } from './read-database.js';
import type { Run, SeenEvent } from './run.js';
import { type TurnView, textsOf, viewOf } from './view.js';

function compare(turn: TurnView, messages: readonly StoredMessage[]): string[] {
  const problems: string[] = [];
  const texts = textsOf(turn);
  for (const { id, content, role } of messages) {
    // An assistant that only calls tools may say nothing.
    if (role !== 'ASSISTANT' || (content === '' && !texts.has(id))) continue;
    if (texts.get(id) !== content) {
      problems.push(`message ${id} is ${JSON.stringify(content)} and was told as ${JSON.stringify(texts.get(id))}`);
    }
    texts.delete(id);
  }
  // A reply that says nothing is told and not stored.
  for (const [id, text] of texts)
    if (text.trim() !== '') problems.push(`message ${id}, ${JSON.stringify(text)}, is not stored`);
  return problems;
}

/** I5: the deltas that a client has joined are the stored message. Asked of every client that saw a turn whole. */
export function textProblems({ sessions, watches, replays }: Run): string[] {
  const byTurn = new Map<string, StoredMessage[]>();
  for (const { messages, turns } of sessions) {
    for (const { id } of turns)
      byTurn.set(
        id,
        messages.filter(({ turnId }) => turnId === id),
      );
  }
  const told: { name: string; events: readonly SeenEvent[] }[] = [
    ...watches.map(({ name, events }) => ({ name: `watch ${name}`, events })),
    ...[...replays.values()].map((events) => ({ name: 'replay', events })),
  ];
  return told.flatMap(({ name, events }) =>
    viewOf(events).turns.flatMap((turn) => {
      const messages = byTurn.get(turn.turnId);
      if (!messages || !turn.isWhole || !turn.isEnded) return [];
      return compare(turn, messages).map((problem) => `${name}: turn ${turn.turnId}: ${problem}`);
    }),
  );
}
