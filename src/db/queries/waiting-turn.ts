import type { Queryable } from './queryable.js';

/** Who takes a waiting turn into its hands. */
export interface NewOwner {
  readonly leaseOwner: string;
  readonly leaseMs: number;
}

// Progress is no lost owner, so the attempts begin anew.
export const ownTurn = `
      status = 'RUNNING', lease_owner = $1, lease_expires_at = now() + $2::int * interval '1 millisecond',
      lease_epoch = lease_epoch + 1, attempts = 1`;

const text = `UPDATE turns SET ${ownTurn} WHERE id = $3 AND status = 'AWAITING_INPUT' RETURNING lease_epoch`;

/**
 * Takes a turn that waits for its user into this process's hands, without an answer. Null when it does not wait, or not
 * any more.
 *
 * @returns the epoch of the new owner.
 */
export async function ownWaitingTurn(db: Queryable, owner: NewOwner, turnId: string): Promise<number | null> {
  const { rows } = await db.query<{ lease_epoch: number }>({
    name: 'own-waiting-turn',
    text,
    values: [owner.leaseOwner, owner.leaseMs, turnId],
  });
  return rows[0]?.lease_epoch ?? null;
}
