import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import { runSql } from '../support/database-server.js';

// Field report A35: a client re-sends its past, the server stores it again, and the rows grow with the square of the
// turns. The rule here: seedHistory appends, as often as it is called; a message is kept from doubling by its client id.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp();
  client = chatClient(app.url);
});
afterAll(() => app.close());

const past = [
  { role: 'USER', content: 'old question' },
  { role: 'ASSISTANT', content: 'old answer' },
];
const contents = (session: { history: { content: string }[] }) => session.history.map(({ content }) => content);

type Sizes = Map<string, { readonly rows: number; readonly bytes: number }>;

/** Rows and bytes that the whole database holds, by table. */
async function stored(): Promise<Sizes> {
  const tables = await runSql<{ name: string }>(
    app.database.url,
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const sizes: Sizes = new Map();
  for (const { name } of tables.rows) {
    const { rows } = await runSql<{ rows: number; bytes: number }>(
      app.database.url,
      `SELECT count(*)::int AS rows, coalesce(sum(length(t::text)), 0)::int AS bytes FROM "${name}" t`,
    );
    const [size] = rows;
    if (size) sizes.set(name, size);
  }
  return sizes;
}

describe('seeding the same list twice', () => {
  it('appends it twice, and counts as no turn', async () => {
    const id = await client.createSession();
    for (const count of [2, 4]) {
      const { data } = await client.seed(id, past);
      expect(data.seedHistory).toMatchObject({ seededCount: 2, session: { messageCount: count, turnCount: 0 } });
    }
    const session = await client.session(id);
    expect(contents(session)).toEqual(['old question', 'old answer', 'old question', 'old answer']);
    expect(new Set(session.history.map(({ id }: { id: string }) => id)).size).toBe(4);
    expect(session.history.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(session).toMatchObject({ turnCount: 0, totalTokens: 0, totalCostUsd: 0 });
  });

  it('after turns appends behind them, and leaves the count of turns', async () => {
    const id = await client.createSession();
    await client.send(id, 'one');
    await client.send(id, 'two');
    await client.seed(id, past);
    const session = await client.session(id);
    expect(contents(session)).toEqual(['one', 'echo: one', 'two', 'echo: two', 'old question', 'old answer']);
    expect(session).toMatchObject({ turnCount: 2, messageCount: 6 });
    expect((await client.send(id, 'three')).turn.number).toBe(3);
  });
});

describe('a client that re-sends everything it ever said before each new message', () => {
  it('finds its old turns, and nothing is stored or asked of the model again', async () => {
    const id = await client.createSession();
    const before = app.provider.requests.length;
    const turns: string[] = [];
    for (let said = 0; said < 8; said += 1) {
      const answers = [];
      for (let at = 0; at <= said; at += 1) {
        answers.push((await client.send(id, `message ${at}`, { clientMessageId: `m${at}` })).turn.id);
      }
      turns.push(answers[said]);
      expect(answers).toEqual(turns);
    }
    expect(app.provider.requests.length - before).toBe(8);
    const session = await client.session(id);
    expect(session).toMatchObject({ turnCount: 8, messageCount: 16 });
    expect(contents(session)).toHaveLength(16);
  });
});

describe('a long conversation', () => {
  it('gives the model every earlier message once', async () => {
    const id = await client.createSession();
    for (let at = 0; at < 10; at += 1) await client.send(id, `message ${at}`);
    const said = app.provider.requests.at(-1)?.body.messages.map(({ content }) => content) ?? [];
    const expected = Array.from({ length: 10 }, (_, at) => [`message ${at}`, `echo: message ${at}`]).flat();
    expect(said.slice(1)).toEqual(expected.slice(0, -1));
  });

  it('grows by the same rows and about the same bytes with every turn', async () => {
    const id = await client.createSession();
    const sizes = [];
    for (let turn = 10; turn < 40; turn += 1) {
      await client.send(id, `message number ${turn}`);
      if (turn % 10 === 9) sizes.push(await stored());
    }
    const [first, second, third] = sizes as [Sizes, Sizes, Sizes];
    const grown = (more: Sizes, less: Sizes, table: string, what: 'rows' | 'bytes') =>
      (more.get(table)?.[what] ?? 0) - (less.get(table)?.[what] ?? 0);
    for (const table of third.keys()) {
      expect(grown(third, second, table, 'rows'), table).toBe(grown(second, first, table, 'rows'));
      // Figures get longer by a digit now and then; anything that holds the past once more would add thousands.
      const faster = grown(third, second, table, 'bytes') - grown(second, first, table, 'bytes');
      expect(faster, table).toBeLessThan(300);
    }
    expect(grown(third, second, 'messages', 'rows')).toBe(20);
  });
});
