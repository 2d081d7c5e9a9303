import type { LayoutEntry } from '../../events/layout.js';
import { budgetsOf, isUsedUp } from './budgets-of.js';
import type { Queryable } from './queryable.js';
import { type FactRow, factColumns, type TurnFacts, toFacts } from './turn-facts.js';

/** An image on its way into the database: a URL, or bytes with their digest. */
export interface ImageRow {
  readonly id: string;
  readonly url: string | null;
  readonly digest: string | null;
  readonly mimeType: string | null;
  readonly data: Buffer | null;
}

export interface TurnToAccept {
  readonly sessionId: string;
  readonly owner: string;
  readonly tenant: string;
  readonly turnId: string;
  readonly messageId: string;
  readonly content: string;
  readonly images: readonly ImageRow[];
  readonly clientMessageId: string | null;
  readonly idempotencyKey: string | null;
  readonly inputDigest: string;
  /** The models on offer; a session with another one takes no turn. */
  readonly models: readonly string[];
  readonly leaseOwner: string;
  readonly leaseMs: number;
  /** Time of the turn's first event. */
  readonly startedAt: Date;
  readonly traceId: string;
  readonly trace: unknown;
  /** How many turns may wait in the session so that this one still joins them; 0 when it shall not wait. */
  readonly maxQueuedTurns: number;
}

/** What every accepting statement is told of the turn. */
export type TurnCandidate = Pick<
  TurnToAccept,
  'sessionId' | 'owner' | 'tenant' | 'turnId' | 'idempotencyKey' | 'inputDigest' | 'models' | 'startedAt'
>;

/** A turn that has just begun and is run by whoever began it. */
export interface AcceptedTurn {
  readonly facts: TurnFacts;
  /** Sequence before its first event. */
  readonly eventBase: number;
  readonly startedAt: Date;
}

const isFree = 's.active_turn_id IS NULL AND s.queued_turns = 0';

/** What the row of a session must be for a turn in it; `models` and `key` are parameters, $1 to $3 who asks. */
const admitsTurn = ({ models, key }: { readonly models: string; readonly key: string }) => `
      s.id = $1 AND s.owner = $2 AND s.tenant = $3 AND s.status = 'OPEN'
    AND NOT EXISTS (SELECT FROM budgets b WHERE b.id IN (${budgetsOf({ budget: 's.budget_id', owner: '$2', tenant: '$3' })}) AND ${isUsedUp('b', isFree)})
    AND s.model = ANY(${models}::text[])
    AND NOT EXISTS (SELECT FROM turns t WHERE t.session_id = $1 AND t.idempotency_key = ${key})`;

/** The same for a turn that runs in it now. */
export const takesTurn = (parameters: { readonly models: string; readonly key: string }) =>
  `${admitsTurn(parameters)} AND ${isFree}`;

/** What an accepting statement answers with, of its session. */
export const acceptedColumns = `turn_count AS number, last_event_sequence AS event_base, ${factColumns}`;

// Everything that makes a turn accepted is one statement, so that a crash leaves all of it or nothing. The UPDATE is
// also the busy check: concurrent calls queue on the session's row, and whoever comes second finds it not free any more.
// A repeated idempotency key that slips past the NOT EXISTS (its snapshot may be older than the row) hits the unique
// index instead. The message of a turn that waits has no place in the history yet: its sequence is negative, and it
// counts as trimmed.
const oneIfFree = `CASE WHEN ${isFree} THEN 1 ELSE 0 END`;
const text = `
WITH session AS (
  UPDATE chat_sessions s
  SET active_turn_id = CASE WHEN ${isFree} THEN $4::uuid ELSE s.active_turn_id END,
      queued_turns = s.queued_turns + 1 - ${oneIfFree},
      turn_count = turn_count + 1, message_count = message_count + ${oneIfFree},
      last_message_sequence = last_message_sequence + ${oneIfFree},
      last_trace_sequence = last_trace_sequence + ${oneIfFree}, updated_at = now()
  WHERE ${admitsTurn({ models: '$21', key: '$8' })}
    AND (${isFree} OR s.queued_turns < $22::int)
  RETURNING s.*, s.active_turn_id IS NOT DISTINCT FROM $4::uuid AS starts
), turn AS (
  INSERT INTO turns (id, session_id, number, status, user_message_id, idempotency_key, input_digest,
                     lease_owner, lease_epoch, lease_expires_at, attempts, started_at, event_base, event_layout)
  SELECT $4, id, turn_count, 'RUNNING'::turn_status, $5::uuid, $8, $9, $10, 1, now() + $11::int * interval '1 millisecond', 1, now(), last_event_sequence, $20::jsonb
  FROM session WHERE starts
  UNION ALL
  SELECT $4, id, turn_count, 'QUEUED', $5, $8, $9, NULL, 0, NULL, 0, NULL, last_event_sequence, '[]'
  FROM session WHERE NOT starts
), message AS (
  INSERT INTO messages (id, session_id, turn_id, sequence, role, content, client_message_id, trimmed_at)
  SELECT $5, id, $4, CASE WHEN starts THEN last_message_sequence ELSE -turn_count END, 'USER', $6, $7,
         CASE WHEN starts THEN NULL ELSE now() END
  FROM session
), blob AS (
  INSERT INTO image_blobs (session_id, digest, mime_type, byte_size, data)
  SELECT session.id, i.digest, i.mime_type, length(i.data), i.data
  FROM session, unnest($17::text[], $18::text[], $19::bytea[]) AS i(digest, mime_type, data)
  ON CONFLICT DO NOTHING
), image AS (
  INSERT INTO message_images (id, message_id, session_id, position, url, digest)
  SELECT i.id, $5, session.id, i.position - 1, i.url, i.digest
  FROM session, unnest($14::uuid[], $15::text[], $16::text[]) WITH ORDINALITY AS i(id, url, digest, position)
), trace AS (
  INSERT INTO trace_events (id, session_id, turn_id, sequence, type, data)
  SELECT $12, id, $4, last_trace_sequence, 'TURN_STARTED', $13::jsonb FROM session WHERE starts
)
SELECT starts, ${acceptedColumns} FROM session`;

/** The layout of a turn that has only begun, as JSON text. */
export const startLayout = (at: Date): string =>
  JSON.stringify([{ type: 'start', at: at.getTime() }] satisfies LayoutEntry[]);

export interface AcceptedRow extends FactRow {
  number: number;
  event_base: number;
}

export const toAcceptedTurn = (
  { startedAt, ...turn }: Omit<TurnCandidate, 'idempotencyKey' | 'inputDigest' | 'models'>,
  row: AcceptedRow,
): AcceptedTurn => ({
  facts: toFacts({ ...turn, number: row.number, epoch: 1 }, row),
  eventBase: row.event_base,
  startedAt,
});

/**
 * Accepts a turn: its user message, the turn, the session's counters and a trace event. It begins when the session is
 * free, else it may wait in the queue. Null when the session is not there, not the caller's, closed, busy, out of budget,
 * has a model that is not on offer, or has seen the idempotency key: `explainRefusal` tells which.
 *
 * @throws a unique violation when another call with the same key won at the same instant.
 */
export async function acceptTurn(db: Queryable, turn: TurnToAccept): Promise<AcceptedTurn | 'queued' | null> {
  const blobs = new Map<string, ImageRow>();
  for (const image of turn.images) if (image.digest !== null) blobs.set(image.digest, image);
  const { rows } = await db.query<AcceptedRow & { readonly starts: boolean }>({
    name: 'accept-turn',
    text,
    values: [
      turn.sessionId,
      turn.owner,
      turn.tenant,
      turn.turnId,
      turn.messageId,
      turn.content,
      turn.clientMessageId,
      turn.idempotencyKey,
      turn.inputDigest,
      turn.leaseOwner,
      turn.leaseMs,
      turn.traceId,
      JSON.stringify(turn.trace),
      turn.images.map((image) => image.id),
      turn.images.map((image) => image.url),
      turn.images.map((image) => image.digest),
      [...blobs.keys()],
      [...blobs.values()].map((image) => image.mimeType),
      [...blobs.values()].map((image) => image.data),
      startLayout(turn.startedAt),
      turn.models,
      turn.maxQueuedTurns,
    ],
  });
  const row = rows[0];
  if (!row) return null;
  return row.starts ? toAcceptedTurn(turn, row) : 'queued';
}
