import type { Turn } from '../db/generated/prisma/client.js';
import type { Context } from './context.js';
import { found } from './found.js';
import { findRows, type Selection } from './rows.js';

/** A turn of the caller, or what it gave, with what the document selected. */
export async function loadTurn({ database, principal }: Context, selection: Selection, id: string): Promise<Turn> {
  const { owner, tenant } = principal;
  const [turn] = await findRows<Turn>(database.prisma, 'turn', selection, { id, session: { owner, tenant } });
  return found(turn);
}
