import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../db/database-errors.js';
import type { Context } from './context.js';
import { found } from './found.js';
import { findRows, type HasId, type Model, type Selection } from './rows.js';

/** Milliseconds before each further try. */
const pauses = [100, 400, 1_000];

/**
 * A row of a session of the caller with what the document selected. What an event tells of is told once, so a database
 * that blinks just then is asked again before the event is given up.
 *
 * @throws ChatError NOT_FOUND
 */
export async function loadRow<Row extends HasId>(
  { database, principal }: Context,
  model: Exclude<Model, 'chatSession'>,
  selection: Selection,
  id: string,
): Promise<Row> {
  const { owner, tenant } = principal;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const [row] = await findRows<Row>(database.prisma, model, selection, { id, session: { owner, tenant } });
      return found(row);
    } catch (error) {
      const pause = pauses[attempt];
      if (pause === undefined || !isDatabaseUnavailable(error)) throw error;
      await sleep(pause);
    }
  }
}
