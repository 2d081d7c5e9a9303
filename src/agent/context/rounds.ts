import type { HistoryMessage } from '../../db/queries/load-history.js';

/** Messages that providers take only together: an assistant message with the results of its calls, or a message alone. */
export interface Group {
  readonly message: HistoryMessage;
  /** One for each call, in their order. */
  readonly results: readonly HistoryMessage[];
}

/** A message of the user with all that answers it, up to the next one. What stands before the first is one as well. */
export interface Round {
  readonly groups: readonly Group[];
}

const isBlank = ({ content }: HistoryMessage) => content.trim() === '';

/** What stands in the place of a result that was never stored. */
const noResult = (message: HistoryMessage, callId: string): HistoryMessage => ({
  id: `${message.id}/${callId}`,
  sequence: message.sequence,
  role: 'TOOL',
  content: 'interrupted: this call has no result.',
  toolCallId: callId,
  toolCalls: [],
  images: [],
});

/**
 * Groups and rounds of messages that are given oldest first. Whatever is stored, what comes out is valid: every call has
 * one result, every result its call, and no message of the assistant is empty.
 */
export function toRounds(messages: readonly HistoryMessage[]): Round[] {
  const rounds: { groups: Group[] }[] = [];
  const add = (group: Group) => {
    if (group.message.role === 'USER' || rounds.length === 0) rounds.push({ groups: [] });
    rounds.at(-1)?.groups.push(group);
  };
  for (let at = 0; at < messages.length; ) {
    const message = messages[at] as HistoryMessage;
    at += 1;
    const stored = new Map<string | null, HistoryMessage>();
    for (let next = messages[at]; next?.role === 'TOOL'; next = messages[at]) {
      if (!stored.has(next.toolCallId)) stored.set(next.toolCallId, next);
      at += 1;
    }
    // A result whose call is not here is no use to anybody.
    if (message.role === 'TOOL') continue;
    if (message.role === 'ASSISTANT' && message.toolCalls.length === 0 && isBlank(message)) continue;
    add({ message, results: message.toolCalls.map(({ id }) => stored.get(id) ?? noResult(message, id)) });
  }
  return rounds;
}

export const messagesOf = ({ groups }: Round): HistoryMessage[] =>
  groups.flatMap(({ message, results }) => [message, ...results]);

/** The words of a round that tell what it is about: those of its people, not of its tools. */
export const wordsOf = ({ groups }: Round): string => groups.map(({ message }) => message.content).join(' ');
