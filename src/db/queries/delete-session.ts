import { isForeignKeyViolation } from '../database-errors.js';
import type { Queryable } from './queryable.js';

// One statement: messages, turns, images and traces go with the session by cascade, the ledger stays without it. The
// budget goes too unless another session draws on it. A session with a turn that runs or waits stays: the turn would go on
// at the provider with nothing left to book it on.
const text = `
WITH session AS (
  DELETE FROM chat_sessions
  WHERE id = $1 AND owner = $2 AND tenant = $3 AND active_turn_id IS NULL AND queued_turns = 0
  RETURNING budget_id
), budget AS (
  DELETE FROM budgets USING session
  WHERE budgets.id = session.budget_id AND budgets.scope = 'SESSION'
    AND NOT EXISTS (SELECT FROM chat_sessions s WHERE s.budget_id = budgets.id AND s.id <> $1)
)
SELECT budget_id FROM session`;

// Two sessions that share a budget and are deleted at once each see the other one. Whoever looks last sees none.
const leftBudget = `
DELETE FROM budgets b WHERE b.id = $1 AND b.scope = 'SESSION'
  AND NOT EXISTS (SELECT FROM chat_sessions s WHERE s.budget_id = b.id)`;

/** Deletes a session and all that belongs to it. False when it is not there, not the caller's, or not free. */
export async function deleteSession(
  db: Queryable,
  session: { readonly sessionId: string; readonly owner: string; readonly tenant: string },
): Promise<boolean> {
  const { rows } = await db.query<{ budget_id: string }>({
    name: 'delete-session',
    text,
    values: [session.sessionId, session.owner, session.tenant],
  });
  const row = rows[0];
  if (!row) return false;
  try {
    await db.query({ name: 'delete-left-budget', text: leftBudget, values: [row.budget_id] });
  } catch (error) {
    // A session that has begun to draw on it keeps it.
    if (!isForeignKeyViolation(error)) throw error;
  }
  return true;
}
