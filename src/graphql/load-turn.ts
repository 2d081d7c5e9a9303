import type { Turn } from '../db/generated/prisma/client.js';
import type { Context } from './context.js';
import { loadRow } from './load-row.js';
import type { Selection } from './rows.js';

/** A turn of the caller, or what it gave, with what the document selected. */
export const loadTurn = (context: Context, selection: Selection, id: string): Promise<Turn> =>
  loadRow<Turn>(context, 'turn', selection, id);
