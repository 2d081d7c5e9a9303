import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

const session = '00000000-0000-7000-8000-000000000001';

describe('the full-text index over messages', () => {
  let database: TestDatabase;
  let client: Client;
  let sequence = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`
      INSERT INTO budgets (id, owner) VALUES ('${session}', 'ann');
      INSERT INTO chat_sessions (id, owner, input_digest, model, system_prompt, max_steps_per_turn, budget_id)
        VALUES ('${session}', 'ann', '', 'demo', '', 8, '${session}')`);
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const insert = async (content: string) => {
    sequence += 1;
    await client.query(
      `INSERT INTO messages (id, session_id, sequence, role, content) VALUES (gen_random_uuid(), $1, $2, 'USER', $3)`,
      [session, sequence, content],
    );
  };
  const find = async (words: string) => {
    const { rows } = await client.query<{ sequence: number }>(
      `SELECT sequence FROM messages
       WHERE to_tsvector('simple', left(content, 100000)) @@ websearch_to_tsquery('simple', $1)
         AND trimmed_at IS NULL AND role <> 'TOOL'`,
      [words],
    );
    return rows.map((row) => row.sequence);
  };

  it('finds words of any script without minding their case', async () => {
    await insert('ÄRGER mit der Straße, Καλημέρα, привет');
    for (const words of ['ärger', 'straße', 'καλημέρα', 'Привет']) expect(await find(words)).toEqual([sequence]);
    expect(await find('nothing')).toEqual([]);
  });

  it('answers a search in a long history, instead of a scan', async () => {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO messages (id, session_id, sequence, role, content)
       SELECT gen_random_uuid(), '${session}', 1000 + n, 'ASSISTANT', 'word' || n FROM generate_series(1, 5000) AS n`,
    );
    await client.query('ANALYZE messages');
    const { rows } = await client.query(
      `EXPLAIN SELECT 1 FROM messages
       WHERE to_tsvector('simple', left(content, 100000)) @@ websearch_to_tsquery('simple', 'word77')
         AND trimmed_at IS NULL AND role <> 'TOOL'`,
    );
    await client.query('ROLLBACK');
    expect(JSON.stringify(rows)).toContain('messages_content_search_idx');
  });

  it.each([
    ['a million different words', Array.from({ length: 1_000_000 }, (_, n) => n.toString(36)).join(' ')],
    ['one word of ten megabytes', 'ä'.repeat(5_000_000)],
    ['hyphens between the widest letters', wideLetters(250_000).join('-')],
    ['words of the widest letters', wideLetters(250_000).join(' ')],
    ['nothing but addresses', Array.from({ length: 200_000 }, (_, n) => `${n.toString(36)}.io/${n}`).join(' ')],
  ])('never refuses a message: %s', async (_, content) => {
    await insert(content);
    const { rows } = await client.query('SELECT content = $1 AS same FROM messages WHERE sequence = $2', [
      content,
      sequence,
    ]);
    expect(rows).toEqual([{ same: true }]);
  });
});

/** Different letters of four bytes each. */
function wideLetters(count: number): string[] {
  return Array.from({ length: count }, (_, n) => String.fromCodePoint(0x20000 + (n % 42_000)));
}
