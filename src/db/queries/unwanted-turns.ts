import type { Queryable } from './queryable.js';

const text = `
SELECT o.id, t.stop_requested_at IS NOT NULL AND t.lease_epoch = o.epoch AS is_stopped
FROM unnest($1::uuid[], $2::int[]) AS o(id, epoch) LEFT JOIN turns t ON t.id = o.id AND t.status = 'RUNNING'
WHERE t.id IS NULL OR t.lease_epoch <> o.epoch OR t.stop_requested_at IS NOT NULL`;

/**
 * Those among running turns that their owner has to end: because somebody wants them stopped, or because they are not
 * its any more.
 */
export async function findUnwantedTurns(
  db: Queryable,
  turns: readonly { readonly turnId: string; readonly epoch: number }[],
): Promise<{ turnId: string; isStopped: boolean }[]> {
  const { rows } = await db.query<{ id: string; is_stopped: boolean | null }>({
    name: 'unwanted-turns',
    text,
    values: [turns.map((turn) => turn.turnId), turns.map((turn) => turn.epoch)],
  });
  return rows.map((row) => ({ turnId: row.id, isStopped: row.is_stopped === true }));
}
