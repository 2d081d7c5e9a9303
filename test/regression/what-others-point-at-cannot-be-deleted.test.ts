import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteSession } from '../../src/db/queries/delete-session.js';
import { forkSession } from '../../src/db/queries/fork-session.js';
import { inTransaction } from '../../src/db/transaction.js';
import { newId } from '../../src/ids.js';
import { untilBlocked } from '../support/blocked.js';
import { codeOf, startTestChat, type TestChat } from '../support/chat.js';
import { pixel } from '../support/pixel.js';

// Field report A24: what other rows point at cannot be deleted, or takes them with it.
let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
});
afterAll(() => test.close());

const send = (sessionId: string, message: string, images: string[] = []) =>
  test.chat.service.send(test.caller, { sessionId, message, images });
const remove = (sessionId: string) => test.chat.service.deleteSession(test.caller, sessionId);
const fork = async (sessionId: string) => (await test.chat.service.forkSession(test.caller, { sessionId })).id;

/** A session in which everything has happened that leaves rows behind. */
async function eventfulSession(shareBudgetOf?: string): Promise<string> {
  const id = await test.createSession({ maxHistory: 9, shareBudgetOf });
  await test.chat.service.seedHistory(test.caller, id, [
    { role: 'USER', content: 'seeded' },
    { role: 'ASSISTANT', content: '', toolCalls: [{ id: 'a', name: 'look', arguments: {} }] },
    { role: 'TOOL', content: 'seen', toolCallId: 'a' },
  ]);
  await send(id, 'question', [pixel]);
  await test.chat.service.regenerate(test.caller, { sessionId: id });
  return id;
}

/** Every row that belongs to a session, to see that it stays as it is. */
const rowsOf = (id: string) =>
  test.rows(
    `SELECT 'session' AS of, to_jsonb(s) - 'forked_from_id' AS row FROM chat_sessions s WHERE id = $1
     UNION ALL SELECT 'budget', to_jsonb(b) FROM budgets b JOIN chat_sessions s ON s.budget_id = b.id WHERE s.id = $1
     UNION ALL SELECT 'message', to_jsonb(m) FROM messages m WHERE session_id = $1
     UNION ALL SELECT 'call', to_jsonb(c) FROM tool_calls c WHERE session_id = $1
     UNION ALL SELECT 'blob', to_jsonb(b) FROM image_blobs b WHERE session_id = $1
     UNION ALL SELECT 'image', to_jsonb(i) FROM message_images i WHERE session_id = $1
     UNION ALL SELECT 'turn', to_jsonb(t) FROM turns t WHERE session_id = $1
     UNION ALL SELECT 'trace', to_jsonb(e) FROM trace_events e WHERE session_id = $1
     ORDER BY 1, 2`,
    id,
  );

describe.each(['an own budget', 'a shared budget'])('a session with %s that was forked', (budget) => {
  const source = async () => eventfulSession(budget === 'a shared budget' ? await test.createSession() : undefined);

  it('is deleted, and its fork stays whole', async () => {
    const id = await source();
    const copy = await fork(id);
    const copyOfCopy = await fork(copy);
    const before = [await rowsOf(copy), await rowsOf(copyOfCopy)];
    expect(before[0]?.map(({ of }) => of)).toEqual(expect.arrayContaining(['blob', 'budget', 'call', 'image']));
    await remove(id);
    expect(await rowsOf(id)).toEqual([]);
    expect([await rowsOf(copy), await rowsOf(copyOfCopy)]).toEqual(before);
    await remove(copy);
    await send(copyOfCopy, 'still there?');
    expect(JSON.stringify(test.provider.requests.at(-1)?.body.messages)).toContain(pixel);
  });

  it('stays whole when its fork is deleted', async () => {
    const id = await source();
    const before = await rowsOf(id);
    const copy = await fork(id);
    await send(copy, 'on another way');
    const spent = (await rowsOf(id)).filter(({ of }) => of === 'budget');
    await remove(copy);
    expect(await rowsOf(copy)).toEqual([]);
    const rest = (rows: { of: string }[]) => rows.filter(({ of }) => of !== 'budget');
    expect(rest(await rowsOf(id))).toEqual(rest(before));
    expect((await rowsOf(id)).filter(({ of }) => of === 'budget')).toEqual(spent);
    await send(id, 'still there?');
  });
});

describe('a session that is deleted at the instant at which it is forked', () => {
  it('is gone when the fork comes second: NOT_FOUND', async () => {
    const id = await eventfulSession();
    const { code } = await inTransaction(test.database.pool, async (db) => {
      await deleteSession(db, { sessionId: id, ...test.caller });
      const waiting = codeOf(fork(id));
      await untilBlocked(test.database.pool);
      return { code: waiting };
    });
    expect(await code).toBe('NOT_FOUND');
  });

  it('leaves the budget to the fork when the deletion comes second', async () => {
    const id = await test.createSession();
    const sharer = await test.createSession({ shareBudgetOf: id });
    await send(id, 'hello');
    const copy = newId();
    const { deleted } = await inTransaction(test.database.pool, async (db) => {
      const made = await forkSession(db, {
        sourceId: id,
        ...test.caller,
        upToMessageId: null,
        id: copy,
        budgetId: newId(),
        title: undefined,
        clientSessionId: null,
        inputDigest: 'digest',
      });
      expect(made).toBe(true);
      await remove(sharer);
      const waiting = codeOf(remove(id));
      await untilBlocked(test.database.pool);
      return { deleted: waiting };
    });
    expect(await deleted).toBe('OK');
    await send(copy, 'still there?');
  });
});
