import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import { runSql } from '../support/database-server.js';
import * as script from '../support/script.js';

// Field report A79: a transaction is held across slow work, so it expires, and the pool runs dry. The same kind: a
// connection that is kept while a follower waits, while a client reads slowly, or by a turn that streams.
const poolSize = 5;
const turns = 50;
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ DATABASE_POOL_SIZE: String(poolSize) });
  client = chatClient(app.url);
});
afterAll(() => app.close());

/** The server's connections, by state. */
async function connections(): Promise<Map<string, number>> {
  const name = new URL(app.database.url).pathname.slice(1);
  const { rows } = await runSql<{ state: string; count: number }>(
    app.database.url,
    `SELECT state, count(*)::int AS count FROM pg_stat_activity
     WHERE datname = '${name}' AND application_name = 'chatsession' GROUP BY state`,
  );
  return new Map(rows.map(({ state, count }) => [state, count]));
}

async function expectFreeConnections() {
  const states = await connections();
  expect(states.get('idle in transaction')).toBeUndefined();
  expect(states.get('idle in transaction (aborted)')).toBeUndefined();
  expect([...states.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(poolSize);
}

/** Sessions and other readings, 20 at once, as a page with lists makes them. */
async function readTwentyThings(ids: readonly string[]) {
  const results = await Promise.all(
    ids.slice(0, 20).map((id, at) =>
      at % 2
        ? client.session(id)
        : client
            .run(
              '{ chatSessions(first: 50) { totalCount nodes { id turnCount activeTurn { status } } } viewer { totalTokens } }',
            )
            .then(({ data, errors }) => {
              expect(errors).toBeUndefined();
              return data;
            }),
    ),
  );
  expect(results).toHaveLength(20);
  for (const result of results) expect(result).toBeTruthy();
}

describe('50 turns that wait for the model, on a pool of 5', () => {
  const ways = ['before its first word', 'in the middle of its reply'] as const;
  it.each(ways)(
    '%s, leave the database to everybody else',
    async (way) => {
      const ids = await Promise.all(Array.from({ length: turns }, () => client.createSession()));
      const gates = ids.map(() => script.gate());
      const half = way === 'in the middle of its reply' ? [script.text('half of ')] : [];
      for (const gate of gates) app.provider.enqueue([half, script.pause(gate), script.reply('an answer')]);
      const sends = ids.map((id) => client.send(id, 'take your time'));
      await Promise.all(gates.map(({ reached }) => reached));
      const settled: unknown[] = [];
      for (const send of sends) void send.then((answer) => settled.push(answer));

      await readTwentyThings(ids);
      await expectFreeConnections();
      // Writers get through as well: another session lives its whole life meanwhile.
      const other = await client.createSession();
      await client.seed(other, [{ role: 'USER', content: 'a' }]);
      expect((await client.send(other, 'me first')).content).toBe('echo: me first');
      const running = await Promise.all(ids.map((id) => client.session(id)));
      for (const session of running) expect(session.activeTurn.status).toBe('RUNNING');
      expect(settled).toEqual([]);

      for (const gate of gates) gate.open();
      for (const answer of await Promise.all(sends)) {
        expect(answer).toMatchObject({
          content: half.length > 0 ? 'half of an answer' : 'an answer',
          finishReason: 'STOP',
        });
      }
      await expectFreeConnections();
      expect(app.logLines.filter((line) => /"level":(?:50|60)/.test(line))).toEqual([]);
    },
    60_000,
  );
});

describe('followers that wait or do not read', () => {
  it.each(['ws', 'sse'] as const)(
    'over %s keep no connection of the database',
    async (transport) => {
      const ids = await Promise.all(Array.from({ length: 30 }, () => client.createSession()));
      const gates = ids.map(() => script.gate());
      for (const gate of gates) app.provider.enqueue([script.text('begun'), script.pause(gate), script.finish('stop')]);
      const streams = ids.map((id) => openTurn(app.url, transport, id, 'go'));
      // Nobody takes a second event: they wait in the sockets.
      await Promise.all(streams.map((stream) => stream.next()));
      await Promise.all(gates.map(({ reached }) => reached));
      await readTwentyThings(ids);
      await expectFreeConnections();
      for (const gate of gates) gate.open();
      for (const stream of streams) {
        expect((await stream.rest()).at(-1)).toMatchObject({
          __typename: 'TurnCompleted',
          response: { content: 'begun' },
        });
      }
    },
    60_000,
  );
});
