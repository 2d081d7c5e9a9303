import { isRefused } from './load-history.js';
import type { Queryable } from './queryable.js';
import { uuidV7 } from './uuid-v7.js';

export interface SessionToFork {
  readonly sourceId: string;
  readonly owner: string;
  readonly tenant: string;
  /** The newest message that is copied; null for everything. */
  readonly upToMessageId: string | null;
  readonly id: string;
  /** Used unless the source shares its budget. */
  readonly budgetId: string;
  /** Undefined: that of the source. */
  readonly title: string | null | undefined;
  readonly clientSessionId: string | null;
  readonly inputDigest: string;
}

// One statement sees one moment of the source, so the copy needs no lock on it. A group is an assistant message with the
// tool messages that answer its calls, or any other message alone; groups are taken whole. What the active turn has
// written is no history yet.
const text = `
WITH source AS (
  SELECT s.*, b.max_cost_usd, b.max_tokens,
         b.scope <> 'SESSION' OR EXISTS (SELECT FROM chat_sessions o WHERE o.budget_id = b.id AND o.id <> s.id) AS shares
  FROM chat_sessions s JOIN budgets b ON b.id = s.budget_id
  WHERE s.id = $1 AND s.owner = $2 AND s.tenant = $3
), retained AS (
  SELECT m.*, count(*) FILTER (WHERE m.role <> 'TOOL') OVER (ORDER BY m.sequence) AS grp
  FROM source JOIN messages m ON m.session_id = source.id
  WHERE m.trimmed_at IS NULL
    AND (source.active_turn_id IS NULL OR m.turn_id IS DISTINCT FROM source.active_turn_id)
), picked AS (
  SELECT ${uuidV7} AS copy_id, row_number() OVER (ORDER BY sequence) AS place, retained.*
  FROM retained WHERE $4::uuid IS NULL OR grp <= (SELECT grp FROM retained WHERE id = $4)
), session AS (
  INSERT INTO chat_sessions (id, owner, tenant, client_session_id, input_digest, title, model, system_prompt, max_history,
                             max_steps_per_turn, temperature, max_output_tokens, tool_names, client_tools, metadata,
                             budget_id, forked_from_id, message_count, last_message_sequence)
  SELECT $5, owner, tenant, $9, $10, CASE WHEN $7::boolean THEN $8 ELSE title END, model, system_prompt, max_history,
         max_steps_per_turn, temperature, max_output_tokens, tool_names, client_tools, metadata,
         CASE WHEN shares THEN budget_id ELSE $6::uuid END, id, copies.n, copies.n
  FROM source, (SELECT count(*)::int AS n FROM picked) AS copies
  WHERE $4::uuid IS NULL OR EXISTS (SELECT FROM retained WHERE id = $4)
  ON CONFLICT (tenant, owner, client_session_id) DO NOTHING
  RETURNING id
), budget AS (
  INSERT INTO budgets (id, owner, tenant, max_cost_usd, max_tokens)
  SELECT $6::uuid, source.owner, source.tenant, source.max_cost_usd, source.max_tokens
  FROM session, source WHERE NOT source.shares
), message AS (
  INSERT INTO messages (id, session_id, sequence, role, status, content, tool_call_id, created_at)
  SELECT p.copy_id, session.id, p.place, p.role, p.status, p.content, p.tool_call_id, p.created_at FROM session, picked p
), call AS (
  INSERT INTO tool_calls (id, session_id, message_id, position, call_id, name, arguments, status, result, error_code,
                          idempotent, attempts, duration_ms, created_at, started_at, finished_at)
  SELECT ${uuidV7}, session.id, p.copy_id, c.position, c.call_id, c.name, c.arguments, c.status, c.result, c.error_code,
         c.idempotent, c.attempts, c.duration_ms, c.created_at, c.started_at, c.finished_at
  FROM session, picked p JOIN tool_calls c ON c.message_id = p.id
), image AS (
  INSERT INTO message_images (id, message_id, session_id, position, url, digest, was_refused)
  SELECT ${uuidV7}, m.copy_id, session.id, i.position, i.url, i.digest, ${isRefused}
  FROM session, picked m JOIN message_images i ON i.message_id = m.id
), blob AS (
  INSERT INTO image_blobs (session_id, digest, mime_type, byte_size, data, created_at)
  SELECT session.id, b.digest, b.mime_type, b.byte_size, b.data, b.created_at
  FROM session, image_blobs b
  WHERE b.session_id = $1
    AND b.digest IN (SELECT i.digest FROM picked p JOIN message_images i ON i.message_id = p.id)
), pin AS (
  INSERT INTO session_pins (session_id, key, content, created_at)
  SELECT session.id, p.key, p.content, p.created_at FROM session, session_pins p WHERE p.session_id = $1
)
SELECT id FROM session`;

/**
 * Creates a session with the settings of another one and a copy of its history, nothing else: no turns, no usage, no
 * trace. It draws on a budget of its own with the same limits, or on the one that the source shares with others. False
 * when the source is not there or not the caller's, the message is not in its history or its turn has not ended, or the
 * clientSessionId is taken.
 *
 * @throws a foreign key violation when the source was deleted at the same instant.
 */
export async function forkSession(db: Queryable, fork: SessionToFork): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'fork-session',
    text,
    values: [
      fork.sourceId,
      fork.owner,
      fork.tenant,
      fork.upToMessageId,
      fork.id,
      fork.budgetId,
      fork.title !== undefined,
      fork.title ?? null,
      fork.clientSessionId,
      fork.inputDigest,
    ],
  });
  return rowCount === 1;
}

/** What a message is that a fork was to end with. */
export interface ForkPoint {
  readonly inHistory: boolean;
  /** Its turn, while that is queued or active. */
  readonly openTurnId: string | null;
}

/** Null when the session has no such message, or is not the caller's. */
export async function findForkPoint(
  db: Queryable,
  fork: Pick<SessionToFork, 'sourceId' | 'owner' | 'tenant' | 'upToMessageId'>,
): Promise<ForkPoint | null> {
  const { rows } = await db.query<{ in_history: boolean; open_turn_id: string | null }>({
    name: 'find-fork-point',
    text: `
SELECT m.trimmed_at IS NULL AS in_history, t.id AS open_turn_id
FROM chat_sessions s JOIN messages m ON m.session_id = s.id
LEFT JOIN turns t ON t.id = m.turn_id AND t.finished_at IS NULL
WHERE s.id = $1 AND s.owner = $2 AND s.tenant = $3 AND m.id = $4`,
    values: [fork.sourceId, fork.owner, fork.tenant, fork.upToMessageId],
  });
  return rows[0] ? { inHistory: rows[0].in_history, openTurnId: rows[0].open_turn_id } : null;
}
