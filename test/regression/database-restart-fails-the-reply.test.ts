import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/tools/define-tool.js';
import type { Database } from '../../src/db/database.js';
import { isDatabaseUnavailable } from '../../src/db/database-errors.js';
import { startTestChat, type TestChat } from '../support/chat.js';
import { failingOnce } from '../support/failing-statement.js';
import * as script from '../support/script.js';
import { statementsOf } from '../support/statements.js';

// Found under restarts of Postgres: a turn whose history could not be read in that moment failed at once, although the
// database was back before anybody had noticed. The kind: one lost statement of a turn ends it, or is paid for twice.
const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks something up.',
  parameters: z.object({ what: z.string() }),
  sideEffect: 'read',
  run: ({ what }) => `${what}: found`,
});

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({ TURN_LEASE_MS: '1000' }, [lookUp]);
  // A call that fails and is made again, a tool, and a reply: all that a turn writes besides questions and summaries.
  const asked = new Set<string>();
  test.provider.onRequest(({ body: { messages } }) => {
    if (messages.at(-1)?.role === 'tool') return script.reply('Here it is.');
    const text = JSON.stringify(messages);
    if (!asked.has(text)) {
      asked.add(text);
      return [script.httpError(503)];
    }
    return script.callTools([{ id: 'c1', name: 'look_up', arguments: { what: 'it' } }]);
  });
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

/** Sends a message as a client does that sends it again, under its key, while the server cannot take it. */
async function say(database: Database): Promise<string> {
  const chat = test.another({ database });
  await chat.start();
  const sessionId = await test.createSession();
  const input = { sessionId, message: `look it up for ${sessionId}`, clientMessageId: randomUUID() };
  for (;;) {
    try {
      await chat.service.send(test.caller, input);
      return sessionId;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
    }
  }
}

/** What is left of a session's only turn. */
async function left(sessionId: string) {
  const [turn] = await test.rows(
    `SELECT t.status, t.error_code, s.total_cost_usd = t.cost_usd AND s.total_cost_usd = b.spent_cost_usd AND
            t.cost_usd = (SELECT sum(cost_usd) FROM model_calls c WHERE c.turn_id = t.id) AS adds_up,
            s.input_tokens = (SELECT sum(input_tokens) FROM model_calls c WHERE c.turn_id = t.id) AS tokens_add_up
     FROM turns t JOIN chat_sessions s ON s.id = t.session_id JOIN budgets b ON b.id = s.budget_id WHERE s.id = $1`,
    sessionId,
  );
  const messages = await test.rows(
    'SELECT role, status, content FROM messages WHERE session_id = $1 ORDER BY sequence',
    sessionId,
  );
  const calls = await test.rows(
    "SELECT status FROM model_calls WHERE session_id = $1 AND status = 'PENDING'",
    sessionId,
  );
  return { turn, messages, calls };
}

const whole = (sessionId: string) => ({
  turn: { status: 'COMPLETED', error_code: null, adds_up: true, tokens_add_up: true },
  messages: [
    { role: 'USER', status: 'COMPLETE', content: `look it up for ${sessionId}` },
    { role: 'ASSISTANT', status: 'COMPLETE', content: '' },
    { role: 'TOOL', status: 'COMPLETE', content: 'it: found' },
    { role: 'ASSISTANT', status: 'COMPLETE', content: 'Here it is.' },
  ],
  calls: [],
});

const statements = [
  'accept-turn',
  'load-history',
  'open-model-call',
  'book-failed-call',
  'store-step',
  'start-tool-call',
  'store-tool-result',
  'settle-turn',
];

describe.each(['refused', 'answer lost'] as const)(
  'a turn completes, paid for once, when Postgres restarts: %s',
  (how) => {
    it.each(statements)('under %s', async (name) => {
      const sessionId = await say(failingOnce(test.database, name, how).database);
      expect(await left(sessionId)).toEqual(whole(sessionId));
    });
  },
);

it('and these are all of its statements', async () => {
  const seen = await statementsOf(test.database.pool, () => say(test.database));
  expect([...new Set(seen)].filter((name) => name !== 'create-session')).toEqual(statements);
});
