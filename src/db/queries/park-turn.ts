import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

/** What a tool call asks of the user or the client. */
export type InputToAsk =
  | { readonly kind: 'QUESTION'; readonly question: string; readonly choices: readonly string[] | null }
  /** May it be run? Bound to the digest of its name and arguments. */
  | { readonly kind: 'APPROVAL'; readonly argumentsDigest: string }
  /** The client is to run it. */
  | { readonly kind: 'CLIENT_TOOL' };

/** A request that a tool call waits for. */
export interface RequestToAsk {
  readonly requestId: string;
  readonly toolCallId: string;
  readonly input: InputToAsk;
  readonly traceId: string;
}

export interface TurnToPark {
  readonly turnId: string;
  readonly epoch: number;
  readonly requests: readonly RequestToAsk[];
  /** How long they may wait. */
  readonly timeoutMs: number;
  readonly layout: readonly LayoutEntry[];
}

// The requests become visible in the same instant in which nobody owns the turn any more, so that an answer never meets
// an owner. A turn whose stop is wanted keeps its owner, which obeys. A call that is to be approved has not begun yet.
const text = `
WITH turn AS (
  UPDATE turns
  SET status = 'AWAITING_INPUT', lease_owner = NULL, lease_expires_at = NULL, event_layout = $3::jsonb
  WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING' AND stop_requested_at IS NULL
  RETURNING session_id
), session AS (
  UPDATE chat_sessions s
  SET last_trace_sequence = last_trace_sequence + cardinality($5::uuid[]), updated_at = now()
  FROM turn WHERE s.id = turn.session_id
  RETURNING s.id, s.last_trace_sequence
), asked AS (
  SELECT session.id AS session_id, session.last_trace_sequence - cardinality($5::uuid[]) + q.position AS trace_sequence,
         q.*, now() + $4::bigint * interval '1 millisecond' AS expires_at
  FROM session, unnest($5::uuid[], $6::uuid[], $7::input_request_kind[], $8::text[], $9::jsonb[], $10::text[], $11::uuid[])
    WITH ORDINALITY AS q(request_id, tool_call_id, kind, question, choices, arguments_digest, trace_id, position)
), call AS (
  UPDATE tool_calls SET status = 'RUNNING', attempts = attempts + 1, started_at = now()
  FROM asked WHERE tool_calls.id = asked.tool_call_id AND asked.kind <> 'APPROVAL'
), request AS (
  INSERT INTO input_requests (id, session_id, turn_id, tool_call_id, kind, question, choices, arguments_digest, expires_at)
  SELECT request_id, session_id, $1, tool_call_id, kind, question, nullif(choices, 'null'), arguments_digest, expires_at
  FROM asked
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT trace_id, session_id, $1, trace_sequence, 'INPUT_REQUESTED',
         jsonb_strip_nulls(jsonb_build_object('requestId', request_id, 'kind', kind, 'toolCallId', (SELECT c.call_id FROM tool_calls c WHERE c.id = tool_call_id),
                                              'argumentsDigest', left(arguments_digest, 16), 'expiresAt', expires_at))
  FROM asked
)
SELECT 1 FROM session`;

/** Lets a turn wait for its user. False when it is not this owner's any more, or is to be stopped. */
export async function parkTurn(db: Queryable, { requests, ...turn }: TurnToPark): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'park-turn',
    text,
    values: [
      turn.turnId,
      turn.epoch,
      JSON.stringify(turn.layout),
      turn.timeoutMs,
      requests.map(({ requestId }) => requestId),
      requests.map(({ toolCallId }) => toolCallId),
      requests.map(({ input }) => input.kind),
      requests.map(({ input }) => (input.kind === 'QUESTION' ? input.question : null)),
      requests.map(({ input }) => JSON.stringify(input.kind === 'QUESTION' ? input.choices : null)),
      requests.map(({ input }) => (input.kind === 'APPROVAL' ? input.argumentsDigest : null)),
      requests.map(({ traceId }) => traceId),
    ],
  });
  return rowCount === 1;
}
