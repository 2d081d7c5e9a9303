import { afterAll, beforeAll, expect, it } from 'vitest';
import { setOperatorBudget } from '../../src/db/queries/operator-budgets.js';
import { inTransaction } from '../../src/db/transaction.js';
import { untilBlocked } from '../support/blocked.js';
import { startTestChat, type TestChat } from '../support/chat.js';

// Found by test/chaos/one-limit-for-all: where a database has many budgets, they were joined with the ids of those that a
// call is charged to. Of several budgets that were changed while the call waited for them, all but the first fell out of
// that join, so the call reserved nothing there, and was never charged.
let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
  await test.rows(
    `INSERT INTO budgets (id, owner) SELECT gen_random_uuid(), 'somebody else' FROM generate_series(1, 3000)`,
  );
  await test.rows('ANALYZE budgets');
});
afterAll(() => test.close());

it('a call that waits for its budgets, while others are charged there, is charged to each of them', async () => {
  const { pool } = test.database;
  for (const owner of [test.caller.owner, null]) {
    await setOperatorBudget(pool, { tenant: test.caller.tenant, owner }, { maxTokens: 1_000_000 });
  }
  const sessionId = await test.createSession();
  const concerned = `scope <> 'SESSION' OR id = (SELECT budget_id FROM chat_sessions WHERE id = $1)`;
  const { sent } = await inTransaction(pool, async (db) => {
    await db.query({
      text: `UPDATE budgets SET spent_tokens = spent_tokens + 1000 WHERE ${concerned}`,
      values: [sessionId],
    });
    const sending = test.chat.service.send(test.caller, { sessionId, message: 'hello' });
    await untilBlocked(pool);
    return { sent: sending };
  });
  await sent;
  const [{ tokens }] = await test.rows(
    'SELECT (input_tokens + output_tokens)::int AS tokens FROM model_calls WHERE session_id = $1',
    sessionId,
  );
  const budgets = await test.rows(
    `SELECT scope, (spent_tokens - 1000)::int AS spent, held_tokens::int AS held FROM budgets WHERE ${concerned} ORDER BY scope`,
    sessionId,
  );
  expect(budgets).toEqual(['SESSION', 'OWNER', 'TENANT'].map((scope) => ({ scope, spent: tokens, held: 0 })));
});
