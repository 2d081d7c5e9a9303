import type { Queryable } from './queryable.js';

export interface SeededMessage {
  readonly id: string;
  readonly role: 'USER' | 'ASSISTANT' | 'TOOL';
  readonly content: string;
  readonly toolCallId: string | null;
  readonly createdAt: Date | null;
}

/** A tool call of a seeded message, with the result that a later message of the seed gives. */
export interface SeededToolCall {
  readonly id: string;
  readonly messageId: string;
  readonly position: number;
  readonly callId: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  readonly result: string;
}

export interface Seed {
  readonly sessionId: string;
  readonly owner: string;
  readonly tenant: string;
  readonly messages: readonly SeededMessage[];
  readonly toolCalls: readonly SeededToolCall[];
  readonly traceId: string;
  readonly trace: Readonly<Record<string, unknown>>;
}

// The session's row is taken first and only while no turn runs or waits, so the sequences of a seed are consecutive and a seed
// never lands inside a turn.
const text = `
WITH session AS (
  UPDATE chat_sessions
  SET message_count = message_count + cardinality($4::uuid[]),
      last_message_sequence = last_message_sequence + cardinality($4::uuid[]),
      last_trace_sequence = last_trace_sequence + 1, updated_at = now()
  WHERE id = $1 AND owner = $2 AND tenant = $3 AND status = 'OPEN' AND active_turn_id IS NULL
    AND queued_turns = 0
  RETURNING id, message_count, max_history, last_message_sequence, last_trace_sequence
), message AS (
  INSERT INTO messages (id, session_id, sequence, role, content, tool_call_id, created_at, seeded)
  SELECT m.id, session.id, session.last_message_sequence - cardinality($4::uuid[]) + m.position, m.role, m.content,
         m.tool_call_id, coalesce(m.created_at, now()), true
  FROM session, unnest($4::uuid[], $5::message_role[], $6::text[], $7::text[], $8::timestamptz[])
    WITH ORDINALITY AS m(id, role, content, tool_call_id, created_at, position)
), call AS (
  INSERT INTO tool_calls (id, session_id, message_id, position, call_id, name, arguments, status, result)
  SELECT c.id, session.id, c.message_id, c.position, c.call_id, c.name, c.arguments, 'SUCCEEDED', c.result
  FROM session, unnest($9::uuid[], $10::uuid[], $11::int[], $12::text[], $13::text[], $14::jsonb[], $15::text[])
    AS c(id, message_id, position, call_id, name, arguments, result)
), trace AS (
  INSERT INTO trace_events (id, session_id, sequence, type, data)
  SELECT $16, id, last_trace_sequence, 'HISTORY_SEEDED',
         $17::jsonb || jsonb_build_object('messageCountAfter', message_count)
  FROM session
)
SELECT max_history FROM session`;

/** Appends a seed. Null when the session is not there, not the caller's, closed, or a turn runs or waits in it. */
export async function seedMessages(db: Queryable, seed: Seed): Promise<{ maxHistory: number | null } | null> {
  const { messages, toolCalls } = seed;
  const { rows } = await db.query<{ max_history: number | null }>({
    name: 'seed-messages',
    text,
    values: [
      seed.sessionId,
      seed.owner,
      seed.tenant,
      messages.map((message) => message.id),
      messages.map((message) => message.role),
      messages.map((message) => message.content),
      messages.map((message) => message.toolCallId),
      messages.map((message) => message.createdAt),
      toolCalls.map((call) => call.id),
      toolCalls.map((call) => call.messageId),
      toolCalls.map((call) => call.position),
      toolCalls.map((call) => call.callId),
      toolCalls.map((call) => call.name),
      toolCalls.map((call) => call.arguments),
      toolCalls.map((call) => call.result),
      seed.traceId,
      JSON.stringify(seed.trace),
    ],
  });
  return rows[0] ? { maxHistory: rows[0].max_history } : null;
}
