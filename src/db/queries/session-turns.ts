import type { Queryable } from './queryable.js';

interface Session {
  readonly sessionId: string;
  readonly owner: string;
  readonly tenant: string;
}

/** A turn that has begun, by its place in the session. */
export interface BegunTurn {
  readonly id: string;
  readonly number: number;
}

const next = `
SELECT t.id, t.number
FROM chat_sessions s
LEFT JOIN LATERAL (
  SELECT id, number FROM turns WHERE session_id = s.id AND number > $4 AND started_at IS NOT NULL ORDER BY number LIMIT 1
) t ON true
WHERE s.id = $1 AND s.owner = $2 AND s.tenant = $3`;

/**
 * The first turn behind a number that has begun to run: null when there is none yet, undefined when the session is not
 * there or not the caller's. One that was stopped in the queue never begins.
 */
export async function findNextTurn(
  db: Queryable,
  { sessionId, owner, tenant }: Session,
  after: number,
): Promise<BegunTurn | null | undefined> {
  const { rows } = await db.query<{ id: string | null; number: number }>({
    name: 'next-turn',
    text: next,
    values: [sessionId, owner, tenant, after],
  });
  const row = rows[0];
  if (!row) return undefined;
  return row.id === null ? null : { id: row.id, number: row.number };
}

const current = `
SELECT coalesce(
  (SELECT number - 1 FROM turns WHERE id = s.active_turn_id),
  (SELECT number FROM turns WHERE session_id = s.id AND started_at IS NOT NULL ORDER BY number DESC LIMIT 1),
  0) AS number
FROM chat_sessions s WHERE s.id = $1 AND s.owner = $2 AND s.tenant = $3`;

/** The number behind which the active turn is the next one, or the next one to begin. Null without the session. */
export async function findPresent(db: Queryable, { sessionId, owner, tenant }: Session): Promise<number | null> {
  const { rows } = await db.query<{ number: number }>({
    name: 'present-turn',
    text: current,
    values: [sessionId, owner, tenant],
  });
  return rows[0]?.number ?? null;
}

const byNumber = `
SELECT t.id, t.number, t.started_at IS NOT NULL AS has_begun FROM turns t JOIN chat_sessions s ON s.id = t.session_id
WHERE s.id = $1 AND s.owner = $2 AND s.tenant = $3 AND t.number = $4`;

/** The turn of this number; null when there is none. */
export async function findTurnByNumber(
  db: Queryable,
  { sessionId, owner, tenant }: Session,
  number: number,
): Promise<{ readonly id: string; readonly number: number; readonly hasBegun: boolean } | null> {
  const { rows } = await db.query<{ id: string; number: number; has_begun: boolean }>({
    name: 'turn-by-number',
    text: byNumber,
    values: [sessionId, owner, tenant, number],
  });
  const row = rows[0];
  return row ? { id: row.id, number: row.number, hasBegun: row.has_begun } : null;
}

const moved = `
SELECT w.id FROM unnest($1::uuid[], $2::int[]) AS w(id, number) LEFT JOIN chat_sessions s ON s.id = w.id
WHERE s.id IS NULL
   OR s.turn_count > w.number AND EXISTS (
     SELECT FROM turns t WHERE t.session_id = s.id AND t.number > w.number AND t.started_at IS NOT NULL)`;

/** Those among sessions in which a turn behind a number has begun, or which are gone. */
export async function findMovedSessions(
  db: Queryable,
  sessions: readonly { readonly sessionId: string; readonly number: number }[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'moved-sessions',
    text: moved,
    values: [sessions.map((session) => session.sessionId), sessions.map((session) => session.number)],
  });
  return rows.map((row) => row.id);
}
