import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

/** A question to the user that a tool call waits for. */
export interface QuestionToAsk {
  readonly requestId: string;
  readonly toolCallId: string;
  readonly question: string;
  readonly choices: readonly string[] | null;
  readonly traceId: string;
}

export interface TurnToPark {
  readonly turnId: string;
  readonly epoch: number;
  readonly questions: readonly QuestionToAsk[];
  /** How long they may wait. */
  readonly timeoutMs: number;
  readonly layout: readonly LayoutEntry[];
}

// The questions become visible in the same instant in which nobody owns the turn any more, so that an answer never meets
// an owner. A turn whose stop is wanted keeps its owner, which obeys.
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
), question AS (
  SELECT session.id AS session_id, session.last_trace_sequence - cardinality($5::uuid[]) + q.position AS trace_sequence,
         q.*, now() + $4::bigint * interval '1 millisecond' AS expires_at
  FROM session, unnest($5::uuid[], $6::uuid[], $7::text[], $8::jsonb[], $9::uuid[])
    WITH ORDINALITY AS q(request_id, tool_call_id, question, choices, trace_id, position)
), call AS (
  UPDATE tool_calls SET status = 'RUNNING', attempts = attempts + 1, started_at = now()
  FROM question WHERE tool_calls.id = question.tool_call_id
), request AS (
  INSERT INTO input_requests (id, session_id, turn_id, tool_call_id, kind, question, choices, expires_at)
  SELECT request_id, session_id, $1, tool_call_id, 'QUESTION', question, nullif(choices, 'null'), expires_at FROM question
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT trace_id, session_id, $1, trace_sequence, 'INPUT_REQUESTED',
         jsonb_build_object('requestId', request_id, 'kind', 'QUESTION', 'expiresAt', expires_at)
  FROM question
)
SELECT 1 FROM session`;

/** Lets a turn wait for its user. False when it is not this owner's any more, or is to be stopped. */
export async function parkTurn(db: Queryable, { questions, ...turn }: TurnToPark): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'park-turn',
    text,
    values: [
      turn.turnId,
      turn.epoch,
      JSON.stringify(turn.layout),
      turn.timeoutMs,
      questions.map((question) => question.requestId),
      questions.map((question) => question.toolCallId),
      questions.map((question) => question.question),
      questions.map((question) => JSON.stringify(question.choices)),
      questions.map((question) => question.traceId),
    ],
  });
  return rowCount === 1;
}
