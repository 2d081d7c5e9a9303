import type { Logger } from 'pino';
import type { Database } from '../../db/database.js';
import { type SettledTurn, settleTurn, type TurnEnd } from '../../db/queries/settle-turn.js';
import { trimHistory } from '../../db/queries/trim-history.js';
import { inTransaction } from '../../db/transaction.js';
import { whileUnavailable } from '../../db/while-unavailable.js';

interface Settling {
  readonly database: Database;
  readonly log: Logger;
  readonly newId: () => string;
}

interface Target {
  readonly sessionId: string;
  readonly maxHistory: number | null;
}

async function settleOnce(
  { database, newId }: Settling,
  end: TurnEnd,
  { sessionId, maxHistory }: Target,
): Promise<SettledTurn | null> {
  if (maxHistory === null) return settleTurn(database.pool, end);
  return inTransaction(database.pool, async (db) => {
    const settled = await settleTurn(db, end);
    if (!settled) return null;
    const messageCount = await trimHistory(db, sessionId, maxHistory, { id: newId(), turnId: end.turnId });
    if (messageCount === null) return settled;
    const { stored } = settled;
    return { ...settled, stored: { ...stored, session: { ...stored.session, messageCount } } };
  });
}

/**
 * Stores the end of a turn, and trims the history where the session limits it, in one transaction. While the database
 * is away it keeps trying for `patienceMs`; after that the turn's lease runs out and it is taken up again.
 *
 * @returns null when the turn belongs to somebody else by now, or has ended before.
 * @throws when the database stayed away for too long, or refused.
 */
export function settle(deps: Settling, end: TurnEnd, target: Target, patienceMs: number): Promise<SettledTurn | null> {
  return whileUnavailable(
    () => settleOnce(deps, end, target),
    patienceMs,
    (error) => deps.log.warn({ turnId: end.turnId, err: error }, 'end of turn could not be stored yet'),
  );
}
