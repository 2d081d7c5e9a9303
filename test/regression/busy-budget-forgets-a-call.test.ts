import { afterAll, beforeAll, expect, it } from 'vitest';
import { setOperatorBudget } from '../../src/db/queries/operator-budgets.js';
import { inTransaction } from '../../src/db/transaction.js';
import { untilBlocked } from '../support/blocked.js';
import { startTestChat, type TestChat } from '../support/chat.js';
import * as script from '../support/script.js';

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
  for (const owner of [test.caller.owner, null]) {
    await setOperatorBudget(test.database.pool, { tenant: test.caller.tenant, owner }, { maxTokens: 1_000_000 });
  }
});
afterAll(() => test.close());

const concerned = `scope <> 'SESSION' OR id = (SELECT budget_id FROM chat_sessions WHERE id = $1)`;

/** Charges all budgets of a session while `act` makes somebody wait for them. */
async function chargeMeanwhile(sessionId: string, act: () => void): Promise<void> {
  const { pool } = test.database;
  await inTransaction(pool, async (db) => {
    await db.query({
      text: `UPDATE budgets SET spent_tokens = spent_tokens + 1000 WHERE ${concerned}`,
      values: [sessionId],
    });
    act();
    await untilBlocked(pool);
  });
}

const budgetsOf = (sessionId: string) =>
  test.rows(
    `SELECT scope, spent_tokens::int AS spent, held_tokens::int AS held FROM budgets WHERE ${concerned} ORDER BY scope`,
    sessionId,
  );

it.each(['opened', 'settled'])(
  'a call that waits for its budgets when it is %s is charged to each of them',
  async (when) => {
    const sessionId = await test.createSession();
    const before = await budgetsOf(sessionId);
    const gate = script.gate();
    test.provider.enqueue([script.pause(gate), script.reply('hi')]);
    const send = () => test.chat.service.send(test.caller, { sessionId, message: 'hello' });
    let sent: Promise<unknown> | null = null;
    if (when === 'opened') {
      await chargeMeanwhile(sessionId, () => {
        sent = send();
      });
      gate.open();
    } else {
      sent = send();
      await gate.reached;
      await chargeMeanwhile(sessionId, gate.open);
    }
    await sent;
    // The reply reports 10 tokens and 5.
    expect(await budgetsOf(sessionId)).toEqual(before.map((row) => ({ ...row, spent: row.spent + 1_015, held: 0 })));
  },
);
