import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

const find = `
SELECT id, event_base, event_layout FROM turns
WHERE status = 'RUNNING' AND (lease_expires_at <= now() OR $1::boolean) AND NOT (id = ANY($2::uuid[]))
ORDER BY lease_expires_at, id LIMIT $3
FOR UPDATE SKIP LOCKED`;

const take = `
UPDATE turns
SET lease_owner = $2, lease_epoch = lease_epoch + 1, attempts = attempts + 1,
    lease_expires_at = now() + $3::int * interval '1 millisecond', event_base = $4, event_layout = $5::jsonb
WHERE id = $1
RETURNING lease_epoch`;

/** A turn without an owner, with all that it has told. */
export interface AbandonedTurn {
  readonly turnId: string;
  readonly eventBase: number;
  readonly layout: readonly LayoutEntry[];
}

/**
 * Locks turns whose lease has run out or was released until the end of the transaction; those that another process has
 * locked are left to it.
 *
 * @param exclusive a valid lease does not protect a turn: right only where no other process can use the database, since
 *   then its owner must be dead.
 */
export async function findAbandonedTurns(
  db: Queryable,
  wanted: { readonly exclusive: boolean; readonly except: readonly string[]; readonly limit: number },
): Promise<AbandonedTurn[]> {
  const { rows } = await db.query<{ id: string; event_base: number; event_layout: LayoutEntry[] }>({
    name: 'find-abandoned-turns',
    text: find,
    values: [wanted.exclusive, wanted.except, wanted.limit],
  });
  return rows.map((row) => ({ turnId: row.id, eventBase: row.event_base, layout: row.event_layout }));
}

/** Makes a locked turn this owner's, under a new epoch, and its telling begin anew. */
export async function takeTurn(
  db: Queryable,
  owner: { readonly id: string; readonly leaseMs: number },
  { turnId, eventBase, layout }: AbandonedTurn,
): Promise<number> {
  const { rows } = await db.query<{ lease_epoch: number }>({
    name: 'take-turn',
    text: take,
    values: [turnId, owner.id, owner.leaseMs, eventBase, JSON.stringify(layout)],
  });
  const epoch = rows[0]?.lease_epoch;
  if (epoch === undefined) throw new Error('a locked turn is gone');
  return epoch;
}
