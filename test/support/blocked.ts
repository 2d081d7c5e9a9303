import type { Pool } from 'pg';
import { vi } from 'vitest';

/** Resolves once a statement in the pool's database waits for a lock that another one holds. */
export const untilBlocked = (pool: Pool): Promise<unknown> =>
  vi.waitUntil(
    async () => {
      const { rows } = await pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    },
    { timeout: 8_000, interval: 20 },
  );
