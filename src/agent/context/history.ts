import type { HistoryMessage } from '../../db/queries/load-history.js';
import { messagesOf, type Round } from './rounds.js';

/** What stands for the oldest messages of a history. */
export interface Summary {
  readonly content: string;
  /** Sequences of the first and the last message that it tells. */
  readonly from: number;
  readonly through: number;
  /** How many messages it tells; the first request is not one of them. */
  readonly messages: number;
  /** What these took in tokens. */
  readonly sourceTokens: number;
}

/** All that a prompt is made of besides the system prompt. */
export interface History {
  /** The first request, when it is in none of the rounds. */
  readonly first: HistoryMessage | null;
  readonly summary: Summary | null;
  /** Messages in front of the rounds that were not read, besides those. */
  readonly omitted: number;
  /** Oldest first; the last one is what the turn is about. */
  readonly rounds: readonly Round[];
}

/** Rounds before the current one that stay as they are as long as anything else can give way. */
export const recentRounds = 3;

/** Takes the first request out of its round, so that it stays when the round does not. A recent round keeps it. */
export function pinFirst(rounds: readonly Round[], request: HistoryMessage | null): Pick<History, 'first' | 'rounds'> {
  if (!request) return { first: null, rounds };
  const at = rounds.findIndex((round) => messagesOf(round).some(({ id }) => id === request.id));
  if (at === -1) return { first: request, rounds };
  if (at >= rounds.length - 1 - recentRounds) return { first: null, rounds };
  const rest = rounds[at]?.groups.filter(({ message }) => message.id !== request.id) ?? [];
  return {
    first: request,
    rounds: [...rounds.slice(0, at), ...(rest.length > 0 ? [{ groups: rest }] : []), ...rounds.slice(at + 1)],
  };
}
