import { type LayoutEntry, layoutLength, withoutUnfinishedStep } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

/**
 * How far a new telling of a turn starts behind what is stored of the old one. Its owner may have told more than it
 * stored: at most what a model writes within a second.
 */
const unstoredAtMost = 1_000_000;

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

export interface ClaimedTurn {
  readonly turnId: string;
  readonly epoch: number;
  /** What the owner before had stored of the thinking in the step that it did not end. */
  readonly lostThinking: string;
}

export interface Claimer {
  readonly owner: string;
  readonly leaseMs: number;
  /**
   * A valid lease does not protect a turn: right only where no other process can use the database, since then its owner
   * must be dead.
   */
  readonly exclusive: boolean;
  /** Turns that are none of the claimer's business, such as those it runs itself. */
  readonly except: readonly string[];
  readonly limit: number;
}

interface Found {
  id: string;
  event_base: number;
  event_layout: LayoutEntry[];
}

/**
 * Takes over turns whose lease has run out or was released, each by one claimer, however many claim at once. From then
 * on they are told anew, without the step that the owner before did not end. Runs in a transaction of its own.
 */
export async function claimTurns(db: Queryable, claimer: Claimer): Promise<ClaimedTurn[]> {
  const { rows } = await db.query<Found>({
    name: 'find-turns-to-claim',
    text: find,
    values: [claimer.exclusive, claimer.except, claimer.limit],
  });
  const claimed: ClaimedTurn[] = [];
  for (const row of rows) {
    const layout = withoutUnfinishedStep(row.event_layout);
    const base = row.event_base + layoutLength(row.event_layout) + unstoredAtMost;
    const taken = await db.query<{ lease_epoch: number }>({
      name: 'claim-turn',
      text: take,
      values: [row.id, claimer.owner, claimer.leaseMs, base, JSON.stringify(layout)],
    });
    claimed.push({
      turnId: row.id,
      epoch: taken.rows[0]?.lease_epoch ?? 0,
      lostThinking: row.event_layout
        .slice(layout.length)
        .map((entry) => (entry.type === 'thinking' ? entry.text : ''))
        .join(''),
    });
  }
  return claimed;
}
