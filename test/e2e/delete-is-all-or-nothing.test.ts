import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatClient, openTurn } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runSql } from '../support/database-server.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import * as script from '../support/script.js';
import { scriptedEnv } from '../support/scripted-env.js';
import { type ServerProcess, startServer } from '../support/server-process.js';

// Field report A83: a delete in two statements leaves half of a session behind when the server dies between them. The
// server is killed here with 20 deletes under way, some of them of sessions whose turn is running.
let provider: ScriptedProvider;
let database: TestDatabase;
beforeAll(async () => {
  provider = await startProvider();
  database = await createTestDatabase();
});
afterAll(async () => {
  await provider.close();
  await database.drop();
});

const env = () => ({ ...scriptedEnv(provider, database), TURN_LEASE_MS: '500' });
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const uuidOf = (id: string) => Buffer.from(id, 'base64').toString('utf8').split(':')[1] ?? '';

/** A session with something in every table that hangs on it. */
async function fullSession(url: string): Promise<string> {
  const client = chatClient(url);
  const id = await client.createSession();
  const seeded = await client.seed(id, [
    { role: 'USER', content: 'look' },
    { role: 'ASSISTANT', content: '', toolCalls: [{ id: 'c', name: 'look', arguments: {} }] },
    { role: 'TOOL', content: 'seen', toolCallId: 'c' },
  ]);
  expect(seeded.errors).toBeUndefined();
  await client.send(id, 'and this?', { images: [pixel] });
  return id;
}

const tables = ['messages', 'message_images', 'image_blobs', 'tool_calls', 'turns', 'trace_events'];

/** What the database holds of these sessions, by session: the row itself, its budget, and rows of every table. */
async function partsOf(ids: readonly string[]): Promise<number[][]> {
  const list = ids.map((id) => `'${uuidOf(id)}'`).join(', ');
  const counts = tables.map((table) => `(SELECT count(*)::int FROM ${table} t WHERE t.session_id = s.id) AS ${table}`);
  const { rows } = await runSql<Record<string, number>>(
    database.url,
    `SELECT (SELECT count(*)::int FROM chat_sessions c WHERE c.id = s.id) AS session,
            ${counts.join(', ')}
     FROM unnest(ARRAY[${list}]::uuid[]) WITH ORDINALITY AS s(id, at) ORDER BY s.at`,
  );
  return rows.map((row) => [Number(row.session), ...tables.map((table) => Number(row[table]))]);
}

/** Rows that belong to nothing any more, and the rows of the ledger, which stay. */
async function strays() {
  const { rows } = await runSql<{ budgets: number; ledger: number }>(
    database.url,
    `SELECT (SELECT count(*)::int FROM budgets b
             WHERE NOT EXISTS (SELECT FROM chat_sessions s WHERE s.budget_id = b.id)) AS budgets,
            (SELECT count(*)::int FROM model_calls) AS ledger`,
  );
  return rows[0];
}

/** Resolves once nothing of a dead server is at work in the database any more. */
async function untilConnectionsAreGone(): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await runSql<{ count: number }>(
        database.url,
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'chatsession'`,
      );
      return rows[0]?.count;
    })
    .toBe(0);
}

/** Deletes all of them at once, and kills the server as soon as so many were answered. */
async function killWhileDeleting(
  server: ServerProcess,
  ids: readonly string[],
  answered: number,
): Promise<Set<string>> {
  const { run } = chatClient(server.url);
  const deleted = new Set<string>();
  let killed: Promise<unknown> | null = null;
  const kill = () => {
    killed ??= server.end('SIGKILL');
  };
  const deletes = ids.map(async (id) => {
    try {
      const { data } = await run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id });
      if (data?.deleteChatSession === id) deleted.add(id);
      if (deleted.size >= answered) kill();
    } catch {
      // The server died with this request.
    }
  });
  if (answered === 0) setImmediate(kill);
  await Promise.all(deletes);
  kill();
  await killed;
  return deleted;
}

describe('kill -9 while 20 sessions are being deleted', () => {
  it('leaves each of them whole or gone, and gone if its delete was answered', async () => {
    let server = await startServer(env());
    try {
      const seen = { whole: 0, gone: 0 };
      for (const answered of [1, 4, 8, 13]) {
        const idle = await Promise.all(Array.from({ length: 17 }, () => fullSession(server.url)));
        const busy = await Promise.all(Array.from({ length: 3 }, () => fullSession(server.url)));
        for (const id of busy) {
          provider.enqueue([script.text('in the middle'), script.silence()]);
          const turn = openTurn(server.url, 'ws', id, 'go on');
          await turn.until(({ __typename }) => __typename === 'TextDelta');
          turn.leave();
        }
        const ids = [...idle, ...busy];
        const whole = await partsOf(ids);
        const ledger = (await strays())?.ledger;
        const deleted = await killWhileDeleting(server, ids, answered);
        await untilConnectionsAreGone();

        const after = await partsOf(ids);
        for (const [at, parts] of after.entries()) {
          const id = ids[at] ?? '';
          const isBusy = at >= idle.length;
          if (parts[0] === 0) {
            expect(parts).toEqual(parts.map(() => 0));
            seen.gone += 1;
          } else {
            // A turn that was running may have been stopped before the kill, which adds its reply and its traces.
            if (isBusy)
              for (const [part, count] of parts.entries()) expect(count).toBeGreaterThanOrEqual(whole[at]?.[part] ?? 0);
            else expect(parts).toEqual(whole[at]);
            seen.whole += 1;
          }
          if (deleted.has(id)) expect(parts[0]).toBe(0);
        }
        expect(await strays()).toEqual({ budgets: 0, ledger });

        server = await startServer(env());
        const client = chatClient(server.url);
        for (const [at, id] of ids.entries()) {
          const { data, errors } = await client.run(
            'query ($id: ID!) { chatSession(id: $id) { messageCount history { content } } }',
            { id },
          );
          if (after[at]?.[0] === 0) expect(errors?.[0]?.extensions?.code).toBe('NOT_FOUND');
          else expect(data.chatSession.history[1].content).toBe('');
        }
        // What is left can be used and deleted like any other session.
        const left = ids.filter((_, at) => after[at]?.[0] === 1);
        for (const id of left.slice(0, 2)) {
          await client.stop(id);
          expect((await client.send(id, 'still here?')).content).toBe('echo: still here?');
        }
        await Promise.all(left.map((id) => client.run('mutation ($id: ID!) { deleteChatSession(id: $id) }', { id })));
        expect((await partsOf(ids)).flat()).toEqual((await partsOf(ids)).flat().map(() => 0));
      }
      // Otherwise the kill came too early or too late to show anything.
      expect(seen.whole).toBeGreaterThan(5);
      expect(seen.gone).toBeGreaterThan(5);
      expect(provider.violations).toEqual([]);
    } finally {
      await server.end('SIGKILL');
    }
  }, 120_000);
});
