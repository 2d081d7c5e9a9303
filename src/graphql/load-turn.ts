import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../db/database-errors.js';
import type { Turn } from '../db/generated/prisma/client.js';
import type { Context } from './context.js';
import { found } from './found.js';
import { findRows, type Selection } from './rows.js';

/** Milliseconds before each further try. */
const pauses = [100, 400, 1_000];

/**
 * A turn of the caller, or what it gave, with what the document selected. The end of a turn is told once, so a database
 * that blinks just then is asked again before the event is given up.
 */
export async function loadTurn({ database, principal }: Context, selection: Selection, id: string): Promise<Turn> {
  const { owner, tenant } = principal;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const [turn] = await findRows<Turn>(database.prisma, 'turn', selection, { id, session: { owner, tenant } });
      return found(turn);
    } catch (error) {
      const pause = pauses[attempt];
      if (pause === undefined || !isDatabaseUnavailable(error)) throw error;
      await sleep(pause);
    }
  }
}
