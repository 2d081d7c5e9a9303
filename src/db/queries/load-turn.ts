import type { ErrorCode } from '../../errors.js';
import type { LayoutEntry } from '../../events/layout.js';
import type { StoredTurn } from '../../events/replay.js';
import type { Queryable } from './queryable.js';

const text = `
SELECT t.id, t.session_id, t.number, t.lease_epoch, t.event_base, t.status, t.error_code, t.error_retryable, t.event_layout,
       coalesce((SELECT json_agg(json_build_array(m.id, m.content)) FROM messages m
                 WHERE m.turn_id = t.id AND m.role = 'ASSISTANT'), '[]') AS texts
FROM turns t JOIN chat_sessions s ON s.id = t.session_id
WHERE t.id = $1 AND s.owner = $2 AND s.tenant = $3`;

interface Row {
  id: string;
  session_id: string;
  number: number;
  lease_epoch: number;
  event_base: number;
  status: StoredTurn['status'];
  error_code: ErrorCode | null;
  error_retryable: boolean | null;
  event_layout: LayoutEntry[];
  texts: [string, string][];
}

/** A turn with all that its events are made from; null when it is not there or not the caller's. */
export async function loadTurn(
  db: Queryable,
  turnId: string,
  caller: { readonly owner: string; readonly tenant: string },
): Promise<StoredTurn | null> {
  const { rows } = await db.query<Row>({
    name: 'load-turn',
    text,
    values: [turnId, caller.owner, caller.tenant],
  });
  const row = rows[0];
  if (!row) return null;
  return {
    id: row.id,
    sessionId: row.session_id,
    number: row.number,
    epoch: row.lease_epoch,
    eventBase: row.event_base,
    status: row.status,
    errorCode: row.error_code,
    errorRetryable: row.error_retryable,
    layout: row.event_layout,
    texts: new Map(row.texts),
  };
}
