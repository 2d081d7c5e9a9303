import type { LayoutEntry } from '../../events/layout.js';
import type { StoredTurn } from '../../events/replay.js';
import type { Queryable } from './queryable.js';
import { type FactRow, factColumns, type TurnFacts, toFacts } from './turn-facts.js';

/** A call of a tool, as far as it has come. */
export interface StoredToolCall {
  /** Of the row. */
  readonly id: string;
  readonly messageId: string;
  readonly position: number;
  /** As the model gave it. */
  readonly callId: string;
  readonly name: string;
  /** A JSON value; a string when the model gave no JSON. */
  readonly arguments: unknown;
  readonly status: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'DENIED' | 'INTERRUPTED';
  readonly idempotent: boolean;
  /** What it asks of the user, if it does. */
  readonly input: {
    readonly requestId: string;
    readonly kind: 'QUESTION' | 'APPROVAL' | 'CLIENT_TOOL';
    readonly status: 'PENDING' | 'RESOLVED' | 'EXPIRED' | 'CANCELLED';
    readonly answer: unknown;
    /** Of what an approval is bound to; null for other kinds. */
    readonly argumentsDigest: string | null;
  } | null;
}

/** A ledger row whose request was under way when its owner was lost. Prices are decimal strings, USD per million tokens. */
export interface LostCall {
  readonly id: string;
  readonly purpose: 'ANSWER' | 'SUMMARY';
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly inputPrice: string | null;
  readonly cachedInputPrice: string | null;
  readonly outputPrice: string | null;
  /** What it has reserved, in and out together. */
  readonly heldTokens: number;
  readonly ageMs: number;
}

/** A turn that this process owns, with all that running it on takes. */
export interface OwnedTurn {
  readonly facts: TurnFacts;
  /** Calls of the last step that has any, in order, the answered ones included. */
  readonly toolCalls: readonly StoredToolCall[];
  /** A message that is not written to its end. */
  readonly partial: { readonly messageId: string; readonly content: string } | null;
  readonly stored: StoredTurn;
  readonly isStopRequested: boolean;
  /** How often an owner has taken it up, this one included. */
  readonly attempts: number;
  readonly lostCall: LostCall | null;
}

const text = `
SELECT t.session_id, t.number, t.lease_epoch, t.event_base, t.event_layout, t.attempts,
       t.stop_requested_at IS NOT NULL AS stop_requested,
       s.owner, s.tenant, ${factColumns},
       coalesce((SELECT json_agg(json_build_array(m.id, m.content)) FROM messages m
                 WHERE m.turn_id = t.id AND m.role = 'ASSISTANT'), '[]') AS texts,
       (SELECT json_build_object('messageId', m.id, 'content', m.content) FROM messages m
        WHERE m.turn_id = t.id AND m.role = 'ASSISTANT' AND m.status = 'STREAMING') AS partial,
       coalesce((
         SELECT json_agg(json_build_object(
           'id', c.id, 'messageId', c.message_id, 'position', c.position, 'callId', c.call_id, 'name', c.name,
           'arguments', c.arguments, 'status', c.status, 'idempotent', c.idempotent,
           'input', (SELECT json_build_object('requestId', r.id, 'kind', r.kind, 'status', r.status, 'answer', r.answer,
                                             'argumentsDigest', r.arguments_digest)
                     FROM input_requests r WHERE r.tool_call_id = c.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1)
         ) ORDER BY c.position)
         FROM tool_calls c
         WHERE c.message_id = (SELECT m.id FROM messages m WHERE m.turn_id = t.id AND m.role = 'ASSISTANT' AND m.status <> 'STREAMING'
                               ORDER BY m.sequence DESC LIMIT 1)), '[]') AS tool_calls,
       (SELECT json_build_object(
           'id', k.id, 'purpose', k.purpose, 'step', k.step, 'attempt', k.attempt, 'model', k.model, 'inputPrice', k.input_price::text,
           'cachedInputPrice', k.cached_input_price::text, 'outputPrice', k.output_price::text, 'heldTokens', k.held_tokens,
           'ageMs', (extract(epoch FROM now() - k.created_at) * 1000)::bigint)
        FROM model_calls k WHERE k.turn_id = t.id AND k.status = 'PENDING'
        ORDER BY k.created_at DESC, k.id DESC LIMIT 1) AS lost_call
FROM turns t JOIN chat_sessions s ON s.id = t.session_id
WHERE t.id = $1 AND t.lease_epoch = $2 AND t.status = 'RUNNING'`;

interface Row extends FactRow {
  session_id: string;
  number: number;
  lease_epoch: number;
  event_base: number;
  event_layout: LayoutEntry[];
  attempts: number;
  stop_requested: boolean;
  owner: string;
  tenant: string;
  texts: [string, string][];
  partial: OwnedTurn['partial'];
  tool_calls: StoredToolCall[];
  lost_call: LostCall | null;
}

/** All that an owner needs to run a turn on from its last stored step. Null when the turn is not this owner's any more. */
export async function loadOwnedTurn(db: Queryable, turnId: string, epoch: number): Promise<OwnedTurn | null> {
  const { rows } = await db.query<Row>({ name: 'load-owned-turn', text, values: [turnId, epoch] });
  const row = rows[0];
  if (!row) return null;
  return {
    facts: toFacts(
      {
        sessionId: row.session_id,
        turnId,
        number: row.number,
        epoch: row.lease_epoch,
        owner: row.owner,
        tenant: row.tenant,
      },
      row,
    ),
    toolCalls: row.tool_calls,
    partial: row.partial,
    stored: {
      id: turnId,
      sessionId: row.session_id,
      number: row.number,
      epoch: row.lease_epoch,
      eventBase: row.event_base,
      status: 'RUNNING',
      errorCode: null,
      errorRetryable: null,
      layout: row.event_layout,
      texts: new Map(row.texts),
    },
    isStopRequested: row.stop_requested,
    attempts: row.attempts,
    lostCall: row.lost_call,
  };
}
