import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

const claim = `
WITH dead AS (
  SELECT id FROM turns
  WHERE status = 'RUNNING' AND (lease_expires_at < now() OR $3::boolean) AND NOT (id = ANY($4::uuid[]))
  ORDER BY lease_expires_at, id LIMIT 20
  FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE turns t
  SET lease_owner = $1, lease_epoch = lease_epoch + 1, attempts = attempts + 1,
      lease_expires_at = now() + $2::int * interval '1 millisecond'
  FROM dead WHERE t.id = dead.id
  RETURNING t.*
)
SELECT c.id, c.session_id, c.number, c.lease_epoch, c.step, c.event_layout, s.max_history, s.system_prompt,
       m.id AS message_id, m.content, m.step AS message_step, k.id AS call_id, k.model AS call_model,
       k.input_price, k.cached_input_price, k.output_price, k.created_at AS call_created_at, now() AS now
FROM claimed c
JOIN chat_sessions s ON s.id = c.session_id
LEFT JOIN LATERAL (
  SELECT id, content, step FROM messages WHERE turn_id = c.id AND role = 'ASSISTANT' ORDER BY sequence DESC LIMIT 1
) m ON true
LEFT JOIN LATERAL (
  SELECT * FROM model_calls WHERE turn_id = c.id AND status = 'PENDING' ORDER BY created_at DESC, id DESC LIMIT 1
) k ON true`;

/** A turn whose owner is gone, now owned by the claimer under a new epoch. */
export interface AbandonedTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly number: number;
  readonly epoch: number;
  readonly layout: readonly LayoutEntry[];
  readonly maxHistory: number | null;
  readonly systemPrompt: string;
  readonly reply: { readonly messageId: string; readonly content: string; readonly step: number } | null;
  /** The call that was under way. Prices are decimal strings. */
  readonly call: {
    readonly id: string;
    readonly model: string;
    readonly inputPrice: string | null;
    readonly cachedInputPrice: string | null;
    readonly outputPrice: string | null;
    readonly ageMs: number;
  } | null;
}

interface ClaimRow {
  id: string;
  session_id: string;
  number: number;
  lease_epoch: number;
  step: number;
  event_layout: LayoutEntry[];
  max_history: number | null;
  system_prompt: string;
  message_id: string | null;
  content: string | null;
  message_step: number | null;
  call_id: string | null;
  call_model: string | null;
  input_price: string | null;
  cached_input_price: string | null;
  output_price: string | null;
  call_created_at: Date | null;
  now: Date;
}

/**
 * Takes over turns whose lease has run out, each by one claimer, however many claim at once; `running` are the turns
 * that the claimer itself runs. With `exclusive` a valid lease does not protect a turn: right only where no other
 * process can use the database, since then its owner must be dead.
 */
export async function claimAbandonedTurns(
  db: Queryable,
  claimer: {
    readonly owner: string;
    readonly leaseMs: number;
    readonly exclusive: boolean;
    readonly running: readonly string[];
  },
): Promise<AbandonedTurn[]> {
  const { rows } = await db.query<ClaimRow>({
    name: 'claim-abandoned-turns',
    text: claim,
    values: [claimer.owner, claimer.leaseMs, claimer.exclusive, claimer.running],
  });
  return rows.map((row) => ({
    turnId: row.id,
    sessionId: row.session_id,
    number: row.number,
    epoch: row.lease_epoch,
    layout: row.event_layout,
    maxHistory: row.max_history,
    systemPrompt: row.system_prompt,
    reply:
      row.message_id === null
        ? null
        : { messageId: row.message_id, content: row.content ?? '', step: row.message_step ?? row.step },
    call:
      row.call_id === null
        ? null
        : {
            id: row.call_id,
            model: row.call_model ?? '',
            inputPrice: row.input_price,
            cachedInputPrice: row.cached_input_price,
            outputPrice: row.output_price,
            ageMs: row.now.getTime() - (row.call_created_at?.getTime() ?? row.now.getTime()),
          },
  }));
}
