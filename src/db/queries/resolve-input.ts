import type { Queryable } from './queryable.js';
import { type NewOwner, ownTurn } from './waiting-turn.js';

export type InputKind = 'QUESTION' | 'APPROVAL' | 'CLIENT_TOOL';

/** A request of the caller, with its turn. */
export interface FoundRequest {
  readonly turnId: string;
  readonly kind: InputKind;
}

const find = `
SELECT r.turn_id, r.kind FROM input_requests r JOIN chat_sessions s ON s.id = r.session_id
WHERE r.id = $1 AND s.owner = $2 AND s.tenant = $3`;

/** Null when there is no such request, or it is not the caller's. */
export async function findRequest(
  db: Queryable,
  requestId: string,
  caller: { readonly owner: string; readonly tenant: string },
): Promise<FoundRequest | null> {
  const { rows } = await db.query<{ turn_id: string; kind: FoundRequest['kind'] }>({
    name: 'find-input-request',
    text: find,
    values: [requestId, caller.owner, caller.tenant],
  });
  return rows[0] ? { turnId: rows[0].turn_id, kind: rows[0].kind } : null;
}

const lock = `SELECT status FROM turns WHERE id = $1 FOR NO KEY UPDATE`;

/**
 * Locks a turn until the end of the transaction, so that answers to several of its requests come one after the other:
 * the last of them has to see that it is the last. False when the turn does not wait.
 */
export async function lockWaitingTurn(db: Queryable, turnId: string): Promise<boolean> {
  const { rows } = await db.query<{ status: string }>({ name: 'lock-turn', text: lock, values: [turnId] });
  return rows[0]?.status === 'AWAITING_INPUT';
}

// A statement of its own after the lock: it has to see what was answered while it waited for that.
const resolve = `
WITH request AS (
  UPDATE input_requests
  SET status = CASE WHEN expires_at <= now() THEN 'EXPIRED' ELSE 'RESOLVED' END::input_request_status,
      answer = CASE WHEN expires_at <= now() THEN NULL ELSE $4::jsonb END, resolved_at = now()
  WHERE id = $3 AND status = 'PENDING'
  RETURNING id, session_id, turn_id, kind, status, answer
), turn AS (
  UPDATE turns SET ${ownTurn}
  FROM request WHERE turns.id = request.turn_id AND turns.status = 'AWAITING_INPUT'
    AND NOT EXISTS (SELECT FROM input_requests o WHERE o.turn_id = turns.id AND o.status = 'PENDING' AND o.id <> $3)
  RETURNING turns.lease_epoch
), session AS (
  UPDATE chat_sessions s SET last_trace_sequence = last_trace_sequence + 1, updated_at = now()
  FROM request WHERE s.id = request.session_id
  RETURNING s.id, s.last_trace_sequence
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $5, session.id, request.turn_id, session.last_trace_sequence, 'INPUT_RESOLVED',
         jsonb_strip_nulls(jsonb_build_object('requestId', request.id, 'kind', request.kind, 'status', request.status,
                                              'approved', CASE WHEN request.kind = 'APPROVAL' THEN request.answer -> 'approved' END))
  FROM session, request
)
SELECT request.status, turn.lease_epoch FROM request LEFT JOIN turn ON true`;

/** What became of a request. */
export interface ResolvedRequest {
  readonly status: 'RESOLVED' | 'EXPIRED';
  /** Of this process's ownership of the turn; null while the turn waits for something else. */
  readonly epoch: number | null;
}

/**
 * Takes the answer to a request of a locked turn, or closes the request when its time is over; and takes the turn into
 * this process's hands when it waits for nothing else. Null when the request was not open any more.
 */
export async function resolveRequest(
  db: Queryable,
  owner: NewOwner,
  request: { readonly requestId: string; readonly answer: unknown; readonly traceId: string },
): Promise<ResolvedRequest | null> {
  const { rows } = await db.query<{ status: ResolvedRequest['status']; lease_epoch: number | null }>({
    name: 'resolve-input',
    text: resolve,
    values: [owner.leaseOwner, owner.leaseMs, request.requestId, JSON.stringify(request.answer), request.traceId],
  });
  return rows[0] ? { status: rows[0].status, epoch: rows[0].lease_epoch } : null;
}

const state = `SELECT status FROM input_requests WHERE id = $1`;

/** Why a request took no answer. */
export async function requestStatus(db: Queryable, requestId: string): Promise<string | null> {
  const { rows } = await db.query<{ status: string }>({ name: 'input-status', text: state, values: [requestId] });
  return rows[0]?.status ?? null;
}

const expired = `
SELECT r.id, r.turn_id FROM input_requests r JOIN turns t ON t.id = r.turn_id
WHERE r.status = 'PENDING' AND r.expires_at <= now() AND t.status = 'AWAITING_INPUT'
ORDER BY r.expires_at, r.id LIMIT $1`;

/** Requests that nobody has answered in time, of turns that still wait for them, oldest first. */
export async function findExpiredRequests(
  db: Queryable,
  limit: number,
): Promise<{ readonly requestId: string; readonly turnId: string }[]> {
  const { rows } = await db.query<{ id: string; turn_id: string }>({
    name: 'expired-input',
    text: expired,
    values: [limit],
  });
  return rows.map((row) => ({ requestId: row.id, turnId: row.turn_id }));
}
