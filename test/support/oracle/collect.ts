import { setTimeout as sleep } from 'node:timers/promises';
import { runSql } from '../database-server.js';
import { lastUserText, type ScriptedProvider } from '../provider.js';
import { followTurn } from './clients.js';
import { readSessions } from './read-database.js';
import { createRecorder, type Recorder } from './recorder.js';
import type { ProviderRequest, Run, SeenEvent, ToolEffect } from './run.js';

const over = new Set(['COMPLETED', 'FAILED', 'STOPPED']);
const readAtOnce = 8;

export interface RunSources {
  readonly database: { readonly url: string };
  readonly provider: Pick<ScriptedProvider, 'requests'>;
  readonly recorder: Recorder;
  /** A server that is alive now, without a path: it tells every turn again. */
  readonly url: string;
  readonly effects?: readonly ToolEffect[];
}

/** The provider's log in the words of the oracle. Only figures that can be booked count as a report. */
export function readRequests({ requests }: Pick<ScriptedProvider, 'requests'>): ProviderRequest[] {
  return requests.map((request) => {
    const { prompt_tokens: prompt, completion_tokens: completion } = (request.sent.usage ?? {}) as Record<
      string,
      number
    >;
    const isUsable = Number.isSafeInteger(prompt) && Number.isSafeInteger(completion);
    return {
      text: lastUserText(request),
      said: request.sent.text,
      usage: isUsable ? { prompt: prompt as number, completion: completion as number } : null,
    };
  });
}

async function readReplay(url: string, turnId: string): Promise<readonly SeenEvent[]> {
  const recorder = createRecorder();
  const signal = AbortSignal.timeout(60_000);
  await followTurn({ recorder, where: () => url, signal, name: turnId, transport: 'sse' }, turnId);
  return recorder.watches.flatMap(({ events }) => events);
}

async function readReplays(url: string, turnIds: readonly string[]): Promise<Map<string, readonly SeenEvent[]>> {
  const replays = new Map<string, readonly SeenEvent[]>();
  for (let at = 0; at < turnIds.length; at += readAtOnce) {
    const ids = turnIds.slice(at, at + readAtOnce);
    await Promise.all(ids.map(async (turnId) => replays.set(turnId, await readReplay(url, turnId))));
  }
  return replays;
}

/** Everything that `judge` wants to know. Call it when nothing runs any more. */
export async function collectRun({ database, provider, recorder, url, effects = [] }: RunSources): Promise<Run> {
  const sessions = await readSessions(database.url);
  const ended = sessions.flatMap(({ turns }) => turns.filter(({ status }) => over.has(status)).map(({ id }) => id));
  return {
    sessions,
    sent: recorder.sent,
    watches: recorder.watches,
    requests: readRequests(provider),
    replays: await readReplays(url, ended),
    effects,
  };
}

/**
 * Resolves when every turn of a database is over.
 *
 * @throws Error with what is not, when the time is up.
 */
export async function untilAtRest(database: { readonly url: string }, withinMs = 60_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const { rows } = await runSql<{ id: string; status: string; attempts: number }>(
      database.url,
      `SELECT id, status, attempts FROM turns WHERE status NOT IN ('COMPLETED', 'FAILED', 'STOPPED')`,
    );
    if (rows.length === 0) return;
    if (performance.now() > deadline) throw new Error(`turns that do not end: ${JSON.stringify(rows)}`);
    await sleep(100);
  }
}
