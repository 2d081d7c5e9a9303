import {
  type AcceptedRow,
  type AcceptedTurn,
  acceptedColumns,
  startLayout,
  type TurnToAccept,
  takesTurn,
  toAcceptedTurn,
} from './accept-turn.js';
import type { Queryable } from './queryable.js';
import { uuidV7 } from './uuid-v7.js';

/** A turn whose user message is a copy of the last turn's. */
export type RegenerationToAccept = Omit<TurnToAccept, 'content' | 'images' | 'trace' | 'maxQueuedTurns'>;

// One that was stopped while it waited in the queue has never been in the history: its message has no place there.
const lastTurn = `
  SELECT t.id AS turn_id, t.number, u.id AS message_id, u.content, u.sequence
  FROM turns t JOIN messages u ON u.id = t.user_message_id
  WHERE t.session_id = $1 AND u.sequence > 0
  ORDER BY t.number DESC LIMIT 1`;

const isFollowed = `
  EXISTS (SELECT FROM messages m WHERE m.session_id = $1 AND m.trimmed_at IS NULL AND m.sequence > last.sequence
            AND m.turn_id IS DISTINCT FROM last.turn_id)`;

// As accept-turn, but the history also loses what is left in it of the last turn. The UPDATE may wait for the session's
// row and then go on with a newer one than the rest of the statement sees, so it compares what every change of the
// history changes.
const text = `
WITH last AS (${lastTurn}), seen AS (
  SELECT last.*, s.turn_count, s.message_count, s.last_message_sequence
  FROM last, chat_sessions s WHERE s.id = $1 AND NOT ${isFollowed}
), dropped AS (
  SELECT m.id, m.sequence FROM seen JOIN messages m ON m.turn_id = seen.turn_id WHERE m.trimmed_at IS NULL
), session AS (
  UPDATE chat_sessions s
  SET active_turn_id = $4, turn_count = s.turn_count + 1,
      message_count = s.message_count + 1 - (SELECT count(*)::int FROM dropped),
      last_message_sequence = s.last_message_sequence + 1, last_trace_sequence = s.last_trace_sequence + 1,
      updated_at = now()
  FROM seen
  WHERE ${takesTurn({ models: '$13', key: '$7' })}
    AND s.turn_count = seen.turn_count AND s.message_count = seen.message_count
    AND s.last_message_sequence = seen.last_message_sequence
  RETURNING s.*
), turn AS (
  INSERT INTO turns (id, session_id, number, status, user_message_id, idempotency_key, input_digest,
                     lease_owner, lease_epoch, lease_expires_at, attempts, started_at, event_base, event_layout)
  SELECT $4, id, turn_count, 'RUNNING', $5, $7, $8, $9, 1, now() + $10::int * interval '1 millisecond', 1, now(), last_event_sequence, $11::jsonb
  FROM session
), message AS (
  INSERT INTO messages (id, session_id, turn_id, sequence, role, content, client_message_id)
  SELECT $5, session.id, $4, session.last_message_sequence, 'USER', seen.content, $6 FROM session, seen
), image AS (
  INSERT INTO message_images (id, message_id, session_id, position, url, digest)
  SELECT ${uuidV7}, $5, i.session_id, i.position, i.url, i.digest
  FROM session, seen JOIN message_images i ON i.message_id = seen.message_id
), trimmed AS (
  UPDATE messages SET trimmed_at = now(), updated_at = now()
  FROM session, dropped WHERE messages.id = dropped.id
), untrue AS (
  DELETE FROM context_summaries c
  USING session WHERE c.session_id = session.id AND c.through_sequence >= (SELECT min(sequence) FROM dropped)
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $12, session.id, $4, session.last_trace_sequence, 'TURN_STARTED',
         jsonb_build_object('regenerates', seen.number, 'dropped', (SELECT count(*) FROM dropped))
  FROM session, seen
)
SELECT ${acceptedColumns} FROM session`;

/**
 * Accepts a turn that runs the last turn's user message again: a copy of that message, and everything that acceptTurn
 * writes. The messages of the last turn leave the history and stay as its record. Null as for acceptTurn, and when
 * there is nothing to regenerate or the history has just changed.
 *
 * @throws a unique violation when another call with the same key won at the same instant.
 */
export async function acceptRegeneration(db: Queryable, turn: RegenerationToAccept): Promise<AcceptedTurn | null> {
  const { rows } = await db.query<AcceptedRow>({
    name: 'accept-regeneration',
    text,
    values: [
      turn.sessionId,
      turn.owner,
      turn.tenant,
      turn.turnId,
      turn.messageId,
      turn.clientMessageId,
      turn.idempotencyKey,
      turn.inputDigest,
      turn.leaseOwner,
      turn.leaseMs,
      startLayout(turn.startedAt),
      turn.traceId,
      turn.models,
    ],
  });
  return rows[0] ? toAcceptedTurn(turn, rows[0]) : null;
}

/** Why a session has nothing to regenerate: no turn so far, or messages that stand behind the last one's. */
export async function nothingToRegenerate(db: Queryable, sessionId: string): Promise<'no turn' | 'followed' | null> {
  const { rows } = await db.query<{ followed: boolean }>({
    name: 'nothing-to-regenerate',
    text: `SELECT ${isFollowed} AS followed FROM (${lastTurn}) AS last`,
    values: [sessionId],
  });
  if (!rows[0]) return 'no turn';
  return rows[0].followed ? 'followed' : null;
}
