import { setTimeout as sleep } from 'node:timers/promises';
import { runSql } from '../database-server.js';
import { countEach } from '../replica-messages.js';

/** How many there are of each kind of thing that could be left behind. */
export type Holdings = Readonly<Record<string, number>>;

/**
 * I9, for servers in this process: open sockets, servers and timers of the process, its listeners, and the connections of
 * the database.
 */
export async function holdings(database: { readonly url: string }): Promise<Holdings> {
  const { rows } = await runSql<{ count: number }>(
    database.url,
    'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  globalThis.gc?.();
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return {
    ...countEach(process.getActiveResourcesInfo()),
    'listeners of the process': listeners,
    'connections of the database': rows[0]?.count ?? 0,
  };
}

export function moreThan(before: Holdings, after: Holdings): string[] {
  return Object.entries(after)
    .filter(([kind, count]) => count > (before[kind] ?? 0))
    .map(([kind, count]) => `${kind}: ${count}, before there were ${before[kind] ?? 0}`);
}

/** What is still there beyond what was there before, once it is gone or the time is up. Empty is what is wanted. */
export async function leaks(
  before: Holdings,
  take: () => Promise<Holdings>,
  withinMs = 10_000,
): Promise<readonly string[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const more = moreThan(before, await take());
    if (more.length === 0 || performance.now() > deadline) return more;
    await sleep(50);
  }
}
