import { loadAnchors } from '../../db/queries/load-anchors.js';
import { type HistoryMessage, loadHistory } from '../../db/queries/load-history.js';
import type { Queryable } from '../../db/queries/queryable.js';
import { verbatimTokens } from './estimate.js';
import { type History, pinFirst } from './history.js';
import { toRounds } from './rounds.js';
import type { TokenCounts } from './token-counts.js';

const pageSize = 200;
/** How much of a history is read that does not fit, as a multiple of the room: what is shortened or summarised next. */
const reach = 2.5;
/** A larger message counts as this part of the room: it is going to be cut, so it must not end the reading. */
const heaviest = 1 / 8;
/** Tokens below the room at which a history is still read as one that may not fit. */
const margin = 32;

export interface LoadedHistory {
  readonly history: History;
  /** Number of the turn that last asked for a summary; null when none has. */
  readonly attemptedTurn: number | null;
}

/** Pages of a history, the newest message first. */
async function* newestFirst(db: Queryable, sessionId: string): AsyncGenerator<HistoryMessage, void> {
  for (let before = 2_147_483_647; ; ) {
    const page = await loadHistory(db, sessionId, before, pageSize);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    before = last.sequence;
  }
}

/** Without the messages of a round whose beginning was not read. */
const fromFirstRequest = (messages: readonly HistoryMessage[]) =>
  messages.slice(
    Math.max(
      0,
      messages.findIndex(({ role }) => role === 'USER'),
    ),
  );

/**
 * Reads of a session's history what a prompt of `room` tokens can be made of: all of it where it fits; else as much as can
 * be of use, with the first request and the summary. However long the session is, it does not read more.
 */
export async function loadRounds(
  db: Queryable,
  sessionId: string,
  room: number,
  counts: TokenCounts,
): Promise<LoadedHistory> {
  const read: HistoryMessage[] = [];
  let anchors: Awaited<ReturnType<typeof loadAnchors>> | null = null;
  let tokens = 0;
  let weight = 0;
  let hasCurrent = false;
  // Nothing lies between what is read and the beginning, or the summary.
  let isConnected = true;
  for await (const message of newestFirst(db, sessionId)) {
    if (message.sequence <= (anchors?.summary?.through ?? 0)) break;
    if (anchors && hasCurrent && weight > room * reach) {
      isConnected = false;
      break;
    }
    read.push(message);
    const size = verbatimTokens(counts, message);
    tokens += size;
    weight += Math.min(size, room * heaviest);
    hasCurrent ||= message.role === 'USER';
    if (!anchors && tokens > room - margin) {
      anchors = await loadAnchors(db, sessionId);
      // Of what was read already, the summary may tell a part.
      const through = anchors.summary?.through ?? 0;
      while ((read.at(-1)?.sequence ?? 0) > 0 && (read.at(-1)?.sequence ?? 0) <= through) read.pop();
    }
  }
  read.reverse();
  if (!anchors) {
    return { history: { first: null, summary: null, omitted: 0, rounds: toRounds(read) }, attemptedTurn: null };
  }
  const { summary, firstRequest, messageCount, attemptedTurn } = anchors;
  const messages = isConnected ? read : fromFirstRequest(read);
  const { first, rounds } = pinFirst(toRounds(messages), firstRequest);
  const isFirstRead = messages.some(({ id }) => id === firstRequest?.id);
  const omitted = messageCount - messages.length - (summary?.messages ?? 0) - (firstRequest && !isFirstRead ? 1 : 0);
  return { history: { first, summary, omitted: Math.max(0, omitted), rounds }, attemptedTurn };
}
