import type { LayoutEntry } from '../../events/layout.js';
import type { Queryable } from './queryable.js';

const text = `
WITH turn AS (
  UPDATE turns SET event_layout = $4::jsonb WHERE id = $1 AND lease_epoch = $2 AND status = 'RUNNING' RETURNING id
)
UPDATE tool_calls SET status = 'RUNNING', attempts = attempts + 1, started_at = now()
FROM turn WHERE tool_calls.id = $3 AND tool_calls.turn_id = turn.id`;

/** Notes that a tool is about to run. False when the turn is not this owner's any more. */
export async function startToolCall(
  db: Queryable,
  start: {
    readonly turnId: string;
    readonly epoch: number;
    readonly toolCallId: string;
    readonly layout: readonly LayoutEntry[];
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'start-tool-call',
    text,
    values: [start.turnId, start.epoch, start.toolCallId, JSON.stringify(start.layout)],
  });
  return rowCount === 1;
}
