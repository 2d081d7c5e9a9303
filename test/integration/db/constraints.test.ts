import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isUniqueViolation } from '../../../src/db/database-errors.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const digest = 'a'.repeat(64);

/** One row of everything, in a state that the product leaves behind. */
const validRows = `
  INSERT INTO budgets (id, owner) VALUES ('${id(1)}', 'ann');
  INSERT INTO chat_sessions (id, owner, input_digest, model, system_prompt, max_steps_per_turn, budget_id)
    VALUES ('${id(1)}', 'ann', '${digest}', 'demo', '', 8, '${id(1)}'),
           ('${id(2)}', 'ann', '${digest}', 'demo', '', 8, '${id(1)}');
  INSERT INTO messages (id, session_id, sequence, role, content)
    SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '${id(1)}', n, 'USER', 'Hello'
    FROM generate_series(1, 4) AS n;
  INSERT INTO messages (id, session_id, sequence, role, content) VALUES ('${id(5)}', '${id(2)}', 1, 'USER', 'Hello');
  INSERT INTO turns (id, session_id, number, status, user_message_id, input_digest, lease_expires_at)
    VALUES ('${id(1)}', '${id(1)}', 1, 'RUNNING', '${id(1)}', '${digest}', now());
  INSERT INTO model_calls (id, session_id, turn_id, owner, step, purpose, model)
    VALUES ('${id(1)}', '${id(1)}', '${id(1)}', 'ann', 1, 'ANSWER', 'demo');
  INSERT INTO tool_calls (id, session_id, turn_id, message_id, position, call_id, name, arguments)
    VALUES ('${id(1)}', '${id(1)}', '${id(1)}', '${id(1)}', 0, 'call_1', 'add', '{}');
  INSERT INTO input_requests (id, session_id, turn_id, tool_call_id, kind, expires_at)
    VALUES ('${id(1)}', '${id(1)}', '${id(1)}', '${id(1)}', 'QUESTION', now());
  INSERT INTO image_blobs (session_id, digest, mime_type, byte_size, data)
    VALUES ('${id(1)}', '${digest}', 'image/png', 1, '\\x00');
  INSERT INTO message_images (id, message_id, session_id, position, digest)
    VALUES ('${id(1)}', '${id(1)}', '${id(1)}', 0, '${digest}');
  INSERT INTO trace_events (id, session_id, sequence, type, data)
    VALUES ('${id(1)}', '${id(1)}', 1, 'TURN_STARTED', '{}');
  INSERT INTO context_summaries (session_id, content, from_sequence, through_sequence, attempted_turn)
    VALUES ('${id(1)}', 'They met.', 1, 2, 1);
`;

/** Statements that each break one rule, by the name of the rule. */
const violations: readonly (readonly [constraint: string, sql: string])[] = [
  ['context_summaries_range_check', `UPDATE context_summaries SET from_sequence = 3`],
  ['context_summaries_range_check', `UPDATE context_summaries SET content = NULL`],
  ['context_summaries_counters_check', `UPDATE context_summaries SET attempted_turn = 0`],
  ['budgets_limits_check', `UPDATE budgets SET max_cost_usd = -0.01`],
  ['budgets_limits_check', `UPDATE budgets SET max_cost_usd = 'NaN'`],
  ['budgets_limits_check', `UPDATE budgets SET max_tokens = -1`],
  ['budgets_spent_check', `UPDATE budgets SET spent_cost_usd = -0.000000000001`],
  ['budgets_spent_check', `UPDATE budgets SET spent_cost_usd = 'NaN'`],
  ['budgets_held_check', `UPDATE budgets SET held_tokens = -1`],
  ['chat_sessions_settings_check', `UPDATE chat_sessions SET max_history = -1`],
  ['chat_sessions_settings_check', `UPDATE chat_sessions SET max_steps_per_turn = 0`],
  ['chat_sessions_settings_check', `UPDATE chat_sessions SET max_output_tokens = 0`],
  ['chat_sessions_settings_check', `UPDATE chat_sessions SET temperature = 'NaN'`],
  ['chat_sessions_counters_check', `UPDATE chat_sessions SET turn_count = -1`],
  ['chat_sessions_counters_check', `UPDATE chat_sessions SET message_count = 5, last_message_sequence = 4`],
  ['chat_sessions_usage_check', `UPDATE chat_sessions SET output_tokens = -1`],
  ['chat_sessions_cost_check', `UPDATE chat_sessions SET total_cost_usd = 'NaN'`],
  ['chat_sessions_events_check', `UPDATE chat_sessions SET last_event_sequence = -1`],
  ['chat_sessions_events_check', `UPDATE chat_sessions SET queued_turns = -1`],
  ['chat_sessions_closed_check', `UPDATE chat_sessions SET status = 'CLOSED'`],
  ['chat_sessions_closed_check', `UPDATE chat_sessions SET closed_at = now()`],
  ['messages_sequence_check', `UPDATE messages SET sequence = 0 WHERE sequence = 1`],
  ['messages_sequence_check', `UPDATE messages SET sequence = -1 WHERE sequence = 1`],
  ['messages_sequence_check', `UPDATE messages SET step = 0`],
  ['messages_tool_call_check', `UPDATE messages SET role = 'TOOL'`],
  ['messages_tool_call_check', `UPDATE messages SET tool_call_id = 'call_1'`],
  ['messages_user_check', `UPDATE messages SET status = 'PARTIAL'`],
  ['messages_user_check', `UPDATE messages SET role = 'ASSISTANT', client_message_id = id::text`],
  ['image_blobs_content_check', `UPDATE image_blobs SET byte_size = 2`],
  ['image_blobs_content_check', `INSERT INTO image_blobs VALUES ('${id(1)}', 'A', 'image/png', 1, '\\x00')`],
  ['message_images_position_check', `UPDATE message_images SET position = -1`],
  ['message_images_source_check', `UPDATE message_images SET url = 'https://example.com/a.png'`],
  ['message_images_source_check', `UPDATE message_images SET digest = NULL`],
  ['turns_counters_check', `UPDATE turns SET number = 0`],
  ['turns_counters_check', `UPDATE turns SET lease_epoch = -1`],
  ['turns_usage_check', `UPDATE turns SET cached_input_tokens = -1`],
  ['turns_cost_check', `UPDATE turns SET cost_usd = -1`],
  ['turns_event_base_check', `UPDATE turns SET event_base = -1`],
  ['turns_finished_check', `UPDATE turns SET status = 'COMPLETED', finish_reason = 'STOP'`],
  ['turns_finished_check', `UPDATE turns SET finished_at = now(), finish_reason = 'STOP'`],
  ['turns_finish_reason_check', `UPDATE turns SET status = 'COMPLETED', finished_at = now()`],
  ['turns_error_check', `UPDATE turns SET status = 'FAILED', finished_at = now(), finish_reason = 'ERROR'`],
  ['turns_error_check', `UPDATE turns SET error_retryable = true`],
  ['turns_lease_check', `UPDATE turns SET lease_expires_at = NULL`],
  ['model_calls_counters_check', `UPDATE model_calls SET attempt = 0`],
  ['model_calls_usage_check', `UPDATE model_calls SET input_tokens = -1`],
  ['model_calls_cost_check', `UPDATE model_calls SET cost_usd = 'NaN'`],
  ['model_calls_prices_check', `UPDATE model_calls SET output_price = -1`],
  ['model_calls_settled_check', `UPDATE model_calls SET status = 'SUCCEEDED'`],
  ['model_calls_settled_check', `UPDATE model_calls SET settled_at = now()`],
  ['model_calls_error_check', `UPDATE model_calls SET status = 'FAILED', settled_at = now()`],
  ['tool_calls_counters_check', `UPDATE tool_calls SET position = -1`],
  ['input_requests_digest_check', `UPDATE input_requests SET kind = 'APPROVAL'`],
  ['input_requests_digest_check', `UPDATE input_requests SET arguments_digest = '${digest}'`],
  ['input_requests_resolved_check', `UPDATE input_requests SET status = 'RESOLVED'`],
  ['input_requests_resolved_check', `UPDATE input_requests SET resolved_at = now()`],
  ['trace_events_sequence_check', `UPDATE trace_events SET sequence = 0`],
];

describe('the database itself', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(validRows);
  });
  beforeEach(async () => {
    await client.query('BEGIN');
    return async () => {
      await client.query('ROLLBACK');
    };
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it.each(violations)('refuses by %s: %s', async (constraint, sql) => {
    await expect(client.query(sql)).rejects.toMatchObject({ code: '23514', constraint });
  });

  it('has no check that the list above leaves out', async () => {
    const { rows } = await client.query<{ conname: string }>(
      `SELECT conname FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace`,
    );
    const listed = new Set(violations.map(([constraint]) => constraint));
    expect(rows.map((row) => row.conname).filter((name) => !listed.has(name))).toEqual([]);
  });

  describe('with a turn that runs', () => {
    const insertTurn = (session: number, message: number, status: string) =>
      client.query(
        `INSERT INTO turns (id, session_id, number, status, finish_reason, finished_at, user_message_id, input_digest, lease_expires_at)
         VALUES ($1, $2, 2, $3::turn_status, 'STOP', CASE WHEN $3 = 'COMPLETED' THEN now() END, $4, $5, now())`,
        [id(2), id(session), status, id(message), digest],
      );

    it.each(['RUNNING', 'AWAITING_INPUT'])('refuses another one that is %s in the same session', async (status) => {
      const error = await insertTurn(1, 2, status).catch((reason: unknown) => reason);
      expect(isUniqueViolation(error, 'turns_one_active_per_session_key')).toBe(true);
    });

    it('takes one that is waiting its turn or has ended, and one of another session', async () => {
      await insertTurn(1, 2, 'QUEUED');
      await client.query('DELETE FROM turns WHERE number = 2');
      await insertTurn(1, 2, 'COMPLETED');
      await client.query('DELETE FROM turns WHERE number = 2');
      await insertTurn(2, 5, 'RUNNING');
    });
  });

  it('deletes a session with all that hangs on it and keeps its entries in the ledger', async () => {
    await client.query(`UPDATE chat_sessions SET active_turn_id = '${id(1)}' WHERE id = '${id(1)}'`);
    await client.query(`UPDATE turns SET final_message_id = '${id(2)}'`);
    await client.query(`DELETE FROM chat_sessions WHERE id = '${id(1)}'`);
    const { rows } = await client.query(`
      SELECT (SELECT count(*) FROM messages WHERE session_id = '${id(1)}')::int AS messages,
             (SELECT count(*) FROM turns)::int AS turns,
             (SELECT count(*) FROM tool_calls)::int AS tools,
             (SELECT count(*) FROM image_blobs)::int AS images,
             (SELECT count(*) FROM trace_events)::int AS traces,
             (SELECT count(*) FROM model_calls WHERE session_id IS NULL AND turn_id IS NULL)::int AS ledger`);
    expect(rows).toEqual([{ messages: 0, turns: 0, tools: 0, images: 0, traces: 0, ledger: 1 }]);
  });
});
