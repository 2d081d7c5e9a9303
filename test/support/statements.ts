import type pg from 'pg';

/** What a server asks beside its turns, every second or so. */
const periodic = new Set([
  'renew-leases',
  'unwanted-turns',
  'moved-sessions',
  'expired-input',
  'find-abandoned-turns',
  'find-waiting-sessions',
  'active-sessions-behind',
]);

/** The names of the statements that an action makes through a pool, in their order. */
export async function statementsOf(pool: pg.Pool, action: () => Promise<unknown>): Promise<string[]> {
  const original = pool.query;
  const names: string[] = [];
  pool.query = ((config: { name: string }, ...rest: []) => {
    names.push(config.name);
    return (original as (...args: unknown[]) => unknown).call(pool, config, ...rest);
  }) as typeof original;
  try {
    await action();
  } finally {
    pool.query = original;
  }
  return names.filter((name) => !periodic.has(name));
}
