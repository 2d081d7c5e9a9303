import { setTimeout as sleep } from 'node:timers/promises';
import { chatClient } from './client.js';
import type { Fleet } from './fleet.js';
import { followSession, readEventsCursor, type Said, say } from './oracle/clients.js';

export interface ConversationsOptions {
  readonly sessionIds: readonly string[];
  /** How long new turns are begun. */
  readonly seconds: number;
  /** The server that is told the messages. */
  readonly teller?: () => string;
  /** The server on which each session is watched from beginning to end, over WS and SSE in turn. */
  readonly watched?: () => string;
  readonly withinMs: number;
}

/** Ids of new sessions, made one after the other, so that a busy server refuses none. */
export async function createSessions(fleet: Fleet, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await fleet.client().createSession());
  return ids;
}

/** Talks in several sessions at once, with a watcher for each. Resolves when all has been said and seen. */
export async function converse(
  fleet: Fleet,
  { sessionIds, seconds, teller = fleet.where, watched = fleet.where, withinMs }: ConversationsOptions,
): Promise<Said[]> {
  const until = performance.now() + seconds * 1_000;
  const talk = async (id: string, session: number) => {
    let turns = Number.POSITIVE_INFINITY;
    const follower = fleet.follower(`session ${session}`, session % 2 === 0 ? 'ws' : 'sse', withinMs);
    const talker = { ...fleet.options(withinMs), where: teller };
    const speak = async () => {
      const all: Said[] = [];
      while (all.length < turns) {
        const turn = all.length + 1;
        // Known before the last turn begins, so that the watcher knows its end when it sees it.
        if (performance.now() > until) turns = turn;
        all.push(await say(talker, id, `session ${session}, turn ${turn}`));
      }
      return all;
    };
    const from = await readEventsCursor(talker, id);
    const [all] = await Promise.all([
      speak(),
      followSession({ ...follower, where: watched }, { sessionId: id, from }, () => turns),
    ]);
    return all;
  };
  return (await Promise.all(sessionIds.map(talk))).flat();
}

/** Breaks something for some time, one kind after the other with a pause before each. Resolves when the last is mended. */
export async function breakFor(
  seconds: number,
  everyMs: number,
  breaks: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  for (let at = 0; performance.now() + everyMs < until; at += 1) {
    await sleep(everyMs);
    await breaks[at % breaks.length]?.();
  }
}

/** Asks servers for a session again and again until `stop`, and counts their answers: OK or the code of the error. */
export function askAlways(urls: readonly string[], sessionId: string, everyMs = 50) {
  const answers = new Map<string, number>();
  let isOver = false;
  const ask = async (url: string) => {
    const { errors } = await chatClient(url).run('query Ask($id: ID!) { chatSession(id: $id) { turnCount } }', {
      id: sessionId,
    });
    const { code = 'OK', retryable } = errors?.[0]?.extensions ?? {};
    return retryable === true ? `${code}, retryable` : String(code);
  };
  const asking = urls.map(async (url) => {
    while (!isOver) {
      const answer = await ask(url).catch((error: unknown) => `no answer: ${String(error)}`);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      await sleep(everyMs);
    }
  });
  return {
    async stop(): Promise<ReadonlyMap<string, number>> {
      isOver = true;
      await Promise.all(asking);
      return answers;
    },
  };
}
