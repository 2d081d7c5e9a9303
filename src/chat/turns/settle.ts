import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../db/database.js';
import { isDatabaseUnavailable } from '../../db/database-errors.js';
import { settleTurn, type TurnEnd } from '../../db/queries/settle-turn.js';
import { trimHistory } from '../../db/queries/trim-history.js';
import { inTransaction } from '../../db/transaction.js';

interface Settling {
  readonly database: Database;
  readonly log: Logger;
  readonly newId: () => string;
}

interface Target {
  readonly sessionId: string;
  readonly maxHistory: number | null;
}

async function settleOnce({ database, newId }: Settling, end: TurnEnd, { sessionId, maxHistory }: Target) {
  if (maxHistory === null) return settleTurn(database.pool, end);
  return inTransaction(database.pool, async (db) => {
    if (!(await settleTurn(db, end))) return false;
    await trimHistory(db, sessionId, maxHistory, { id: newId(), turnId: end.turnId });
    return true;
  });
}

/**
 * Stores the end of a turn, and trims the history where the session limits it, in one transaction. While the database
 * is away it keeps trying for `patienceMs`; after that the turn's lease runs out and recovery ends it.
 *
 * @returns whether the end was stored; false when the turn belongs to somebody else by now.
 * @throws when the database stayed away for too long, or refused.
 */
export async function settle(deps: Settling, end: TurnEnd, target: Target, patienceMs: number): Promise<boolean> {
  let pause = 100;
  for (let waited = 0; ; waited += pause) {
    try {
      return await settleOnce(deps, end, target);
    } catch (error) {
      if (!isDatabaseUnavailable(error) || waited >= patienceMs) throw error;
      deps.log.warn({ turnId: end.turnId, err: error }, 'end of turn could not be stored yet');
      pause = Math.min(pause * 2, 1_000);
      await sleep(pause);
    }
  }
}
