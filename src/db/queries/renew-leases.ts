import type { Queryable } from './queryable.js';

const renew = `
UPDATE turns SET lease_expires_at = now() + $2::int * interval '1 millisecond'
WHERE lease_owner = $1 AND status = 'RUNNING' AND id = ANY($3::uuid[])
RETURNING id, lease_epoch, stop_requested_at IS NOT NULL AS stop_requested`;

export interface RenewedLease {
  readonly turnId: string;
  readonly epoch: number;
  readonly stopRequested: boolean;
}

/** Renews the leases of all turns that a process runs. Turns that are missing from the answer are not its any more. */
export async function renewLeases(
  db: Queryable,
  owner: string,
  leaseMs: number,
  turnIds: readonly string[],
): Promise<RenewedLease[]> {
  const { rows } = await db.query<{ id: string; lease_epoch: number; stop_requested: boolean }>({
    name: 'renew-leases',
    text: renew,
    values: [owner, leaseMs, turnIds],
  });
  return rows.map((row) => ({ turnId: row.id, epoch: row.lease_epoch, stopRequested: row.stop_requested }));
}
