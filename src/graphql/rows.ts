import type { PrismaClient } from '../db/generated/prisma/client.js';

/** A selection as Pothos makes it from a document. */
export interface Selection {
  readonly select?: object | undefined;
  readonly include?: object | undefined;
}

export interface HasId {
  readonly id: string;
}

/** The models that lists, node(id:) and events read. */
export type Model = 'chatSession' | 'message' | 'turn' | 'modelCall' | 'traceEvent' | 'toolCall' | 'inputRequest';

interface Delegate {
  findMany(query: object): Promise<HasId[]>;
}

/** A statement takes at most 65,535 values, and relations repeat them. */
const chunkSize = 5_000;

/**
 * Rows with what the document selected, found by `where`. Typed by their id only: the selection is known at run time.
 */
export async function findRows<Row extends HasId>(
  prisma: PrismaClient,
  model: Model,
  selection: Selection,
  where: object,
): Promise<Row[]> {
  const delegate = prisma[model] as unknown as Delegate;
  return (await delegate.findMany({ ...selection, where })) as Row[];
}

/** Rows by their ids, whatever their number. Nothing is read when the document selects nothing but the id. */
export async function rowsById<Row extends HasId>(
  prisma: PrismaClient,
  model: Model,
  selection: Selection,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  const unique = [...new Set(ids)];
  if (selection.select && Object.keys(selection.select).join() === 'id') {
    return new Map(unique.map((id) => [id, { id } as Row]));
  }
  const rows = new Map<string, Row>();
  for (let start = 0; start < unique.length; start += chunkSize) {
    const chunk = unique.slice(start, start + chunkSize);
    for (const row of await findRows<Row>(prisma, model, selection, { id: { in: chunk } })) {
      rows.set(row.id, row);
    }
  }
  return rows;
}
