-- Adds copies of the newest turn of session $1, as if $2 more turns like it had been run: turn, messages, model call and
-- trace, in their order, with the counters of the session. Columns that are not named here are as in the original.
WITH original AS (
  SELECT id, number, user_message_id FROM turns WHERE session_id = $1 ORDER BY number DESC LIMIT 1
), copy AS MATERIALIZED (
  SELECT n, gen_random_uuid() AS turn_id, gen_random_uuid() AS user_message_id, gen_random_uuid() AS final_message_id
  FROM generate_series(1, $2::int) n
), size AS (
  SELECT
    (SELECT count(*)::int FROM messages WHERE turn_id = (SELECT id FROM original)) AS messages,
    (SELECT count(*)::int FROM trace_events WHERE turn_id = (SELECT id FROM original)) AS traces
), copied_turns AS (
  INSERT INTO turns
  SELECT row.* FROM copy, turns t, jsonb_populate_record(t, jsonb_build_object(
    'id', copy.turn_id, 'number', t.number + copy.n, 'idempotency_key', NULL,
    'user_message_id', copy.user_message_id, 'final_message_id', copy.final_message_id
  )) row
  WHERE t.id = (SELECT id FROM original)
), copied_messages AS (
  INSERT INTO messages
  SELECT row.* FROM copy, size, messages m, jsonb_populate_record(m, jsonb_build_object(
    'id', CASE m.role WHEN 'USER' THEN copy.user_message_id ELSE copy.final_message_id END,
    'turn_id', copy.turn_id, 'sequence', m.sequence + copy.n * size.messages, 'client_message_id', NULL
  )) row
  WHERE m.turn_id = (SELECT id FROM original)
), copied_calls AS (
  INSERT INTO model_calls
  SELECT row.* FROM copy, model_calls c, jsonb_populate_record(c, jsonb_build_object(
    'id', gen_random_uuid(), 'turn_id', copy.turn_id
  )) row
  WHERE c.turn_id = (SELECT id FROM original)
), copied_traces AS (
  INSERT INTO trace_events
  SELECT row.* FROM copy, size, trace_events e, jsonb_populate_record(e, jsonb_build_object(
    'id', gen_random_uuid(), 'turn_id', copy.turn_id, 'sequence', e.sequence + copy.n * size.traces
  )) row
  WHERE e.turn_id = (SELECT id FROM original)
)
UPDATE chat_sessions SET
  turn_count = turn_count + $2,
  message_count = message_count + $2 * size.messages,
  last_message_sequence = last_message_sequence + $2 * size.messages,
  last_trace_sequence = last_trace_sequence + $2 * size.traces
FROM size WHERE chat_sessions.id = $1
