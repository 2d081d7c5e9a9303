import { Prisma, type Turn } from '../db/generated/prisma/client.js';
import type { StoredEnd } from '../events/stored-end.js';
import type { Context } from './context.js';
import { loadTurn } from './load-turn.js';
import type { Selection } from './rows.js';

/** What is known of an ended turn, as Prisma would have read it. */
const rowOf = ({ turn, session, finalMessage }: StoredEnd) => ({
  ...turn,
  costUsd: new Prisma.Decimal(turn.costUsd),
  session: { ...session, totalCostUsd: new Prisma.Decimal(session.totalCostUsd) },
  finalMessage,
  // Asked for those that are pending, and a turn that has ended waits for nothing.
  inputRequests: [],
});

type Row = Readonly<Record<string, unknown>>;

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Whether a row has all that was selected; a relation only by what was selected of it. */
function covers(row: Row, { select }: Selection): boolean {
  if (!select) return false;
  return Object.entries(select).every(([key, selected]) => {
    const value = row[key];
    if (value === undefined) return false;
    return isRow(value) ? selected !== true && covers(value, selected as Selection) : true;
  });
}

/**
 * A turn that has ended, with what the document selected: from what its end has stored, where that is known here and
 * says enough, so that the usual answer takes no statement. It then tells how things stood after this turn, also when
 * the next one has changed them by now.
 */
export function endedTurn(
  context: Context,
  selection: Selection,
  id: string,
  stored: StoredEnd | null | undefined,
): Turn | Promise<Turn> {
  const row = stored && rowOf(stored);
  return row && covers(row, selection) ? (row as object as Turn) : loadTurn(context, selection, id);
}
