import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

export interface QueuedTurn {
  readonly turnId: string;
  readonly number: number;
}

const find = `
SELECT t.id, t.number FROM turns t JOIN chat_sessions s ON s.id = t.session_id
WHERE s.id = $1 AND s.owner = $2 AND s.tenant = $3 AND t.status = 'QUEUED' AND ($4::uuid IS NULL OR t.id = $4)
ORDER BY t.number
FOR UPDATE OF t`;

// Two events each, TurnStarted and TurnStopped, which only followers of that very turn are told: in the events of the
// session it never was. So they may have numbers that the turn that runs meanwhile has as well, whose end nobody knows.
// The message never gets a place in the history.
const stop = `
WITH stopped AS (
  SELECT * FROM unnest($2::uuid[], $3::int[], $4::uuid[]) WITH ORDINALITY AS q(id, number, trace_id, position)
), session AS (
  UPDATE chat_sessions
  SET queued_turns = queued_turns - n, last_trace_sequence = last_trace_sequence + n, updated_at = now()
  FROM (SELECT count(*)::int AS n FROM stopped) AS counted
  WHERE id = $1
  RETURNING id, last_event_sequence AS event_base, last_trace_sequence - n AS trace_base
), turn AS (
  UPDATE turns
  SET status = 'STOPPED', finish_reason = 'STOPPED', stop_requested_at = now(), finished_at = now(),
      event_base = session.event_base, event_layout = $5::jsonb
  FROM session, stopped WHERE turns.id = stopped.id
)
INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
SELECT stopped.trace_id, session.id, stopped.id, session.trace_base + stopped.position, 'TURN_FINISHED',
       jsonb_build_object('number', stopped.number, 'status', 'STOPPED', 'finishReason', 'STOPPED', 'errorCode', NULL)
FROM session, stopped`;

/**
 * Finds the turns that wait in the queue of a session, or one of them, in their order, and locks them until the end of
 * the transaction. None when the session is not the caller's.
 */
export async function lockQueuedTurns(
  db: Queryable,
  session: { readonly sessionId: string; readonly owner: string; readonly tenant: string },
  turnId: string | null,
): Promise<QueuedTurn[]> {
  const { rows } = await db.query<{ id: string; number: number }>({
    name: 'lock-queued-turns',
    text: find,
    values: [session.sessionId, session.owner, session.tenant, turnId],
  });
  return rows.map((row) => ({ turnId: row.id, number: row.number }));
}

/** Ends locked turns of a session that never ran. */
export async function stopQueuedTurns(
  db: Queryable,
  sessionId: string,
  turns: readonly (QueuedTurn & { readonly traceId: string })[],
  at: Date,
): Promise<void> {
  const layout: LayoutEntry[] = [
    { type: 'start', at: at.getTime() },
    { type: 'end', at: at.getTime() },
  ];
  await db.query({
    name: 'stop-queued-turns',
    text: stop,
    values: [
      sessionId,
      turns.map((turn) => turn.turnId),
      turns.map((turn) => turn.number),
      turns.map((turn) => turn.traceId),
      JSON.stringify(layout),
    ],
  });
}
