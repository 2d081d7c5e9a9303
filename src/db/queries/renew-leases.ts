import type { Queryable } from './queryable.js';

const text = `
UPDATE turns SET lease_expires_at = now() + $2::int * interval '1 millisecond'
WHERE lease_owner = $1 AND status = 'RUNNING' AND id = ANY($3::uuid[])`;

/** Renews the leases of all turns that a process runs. One that was taken over has another owner and is left alone. */
export async function renewLeases(
  db: Queryable,
  owner: string,
  leaseMs: number,
  turnIds: readonly string[],
): Promise<void> {
  await db.query({ name: 'renew-leases', text, values: [owner, leaseMs, turnIds] });
}
