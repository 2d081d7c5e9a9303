import type { Queryable } from './queryable.js';

/** What the checks before a change need to know of a session. Money is a decimal string in USD. */
export interface SessionFacts {
  readonly id: string;
  readonly inputDigest: string;
  readonly status: 'OPEN' | 'CLOSED';
  readonly model: string;
  readonly maxCostUsd: string | null;
}

const text = `
SELECT s.id, s.input_digest, s.status, s.model, b.max_cost_usd
FROM chat_sessions s JOIN budgets b ON b.id = s.budget_id
WHERE s.owner = $1 AND s.tenant = $2 AND`;

interface Row {
  id: string;
  input_digest: string;
  status: 'OPEN' | 'CLOSED';
  model: string;
  max_cost_usd: string | null;
}

const toFacts = (row: Row | undefined): SessionFacts | null =>
  row
    ? {
        id: row.id,
        inputDigest: row.input_digest,
        status: row.status,
        model: row.model,
        maxCostUsd: row.max_cost_usd,
      }
    : null;

/** Null when the session is not there or not the caller's. */
export async function findSession(
  db: Queryable,
  caller: { readonly owner: string; readonly tenant: string },
  sessionId: string,
): Promise<SessionFacts | null> {
  const { rows } = await db.query<Row>({
    name: 'find-session',
    text: `${text} s.id = $3`,
    values: [caller.owner, caller.tenant, sessionId],
  });
  return toFacts(rows[0]);
}

/** The caller's session that was created under a client id. */
export async function findSessionByClientId(
  db: Queryable,
  caller: { readonly owner: string; readonly tenant: string },
  clientSessionId: string,
): Promise<SessionFacts | null> {
  const { rows } = await db.query<Row>({
    name: 'find-session-by-client-id',
    text: `${text} s.client_session_id = $3`,
    values: [caller.owner, caller.tenant, clientSessionId],
  });
  return toFacts(rows[0]);
}
