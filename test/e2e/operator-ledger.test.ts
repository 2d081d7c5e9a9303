import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportColumns } from '../../src/db/queries/export-calls.js';
import { readCsv } from '../support/csv.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runSql } from '../support/database-server.js';
import { operatorLines, pipeOperator, runOperator } from '../support/operator-command.js';

// Rows of the ledger by SQL, one a minute from the first of March on: more than two pages of an export.
const calls = 2_345;
const names = [
  'plain',
  'Smith, Ada',
  'the "great" Ada',
  'two\nlines',
  'two\r\nlines',
  '=1+1',
  '-1',
  '@SUM(A1)',
  "o'hara",
];
let database: TestDatabase;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createTestDatabase();
  env = { DATABASE_URL: database.url };
  const owners = names.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
  await runSql(
    database.url,
    `INSERT INTO model_calls (id, owner, tenant, purpose, model, status, settled_at, created_at, input_tokens, output_tokens,
                              input_price, output_price, cost_usd, usage_estimated)
     SELECT ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, (ARRAY[${owners}])[n % ${names.length} + 1],
            CASE WHEN n % 2 = 0 THEN 'acme' ELSE '' END, 'ANSWER', 'demo', 'SUCCEEDED', now(),
            timestamptz '2026-03-01T00:00:00Z' + n * interval '1 minute', n, 1, 2.5, 0.00000001,
            12345678901.000000000001 + n * 0.000000000001, n % 3 = 0
     FROM generate_series(0, ${calls - 1}) AS n`,
  );
});
afterAll(() => database.drop());

const one = async (sql: string) =>
  Object.values((await runSql<Record<string, string>>(database.url, sql)).rows[0] ?? {})[0];
const jsonl = async (...args: string[]) =>
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads from a row is its own business.
  (await operatorLines(env, 'ledger', '--format', 'jsonl', ...args)).map((line) => JSON.parse(line) as any);

describe('the ledger as JSON lines', () => {
  it('has every call once, oldest first, over as many pages as it takes, with money to the last digit', async () => {
    const rows = await jsonl();
    expect(rows.map(({ input_tokens: tokens }) => tokens)).toEqual(Array.from({ length: calls }, (_, n) => n));
    expect(Object.keys(rows[0])).toEqual([...exportColumns]);
    expect(rows[7]).toMatchObject({
      owner: '@SUM(A1)',
      tenant: '',
      created_at: '2026-03-01T00:07:00.000Z',
      session_id: null,
      usage_estimated: false,
      input_price: '2.50000000',
      output_price: '0.00000001',
      cost_usd: '12345678901.000000000008',
    });
    const micro = rows.reduce((sum, { cost_usd: cost }) => sum + BigInt(cost.replace('.', '')), 0n);
    expect(String(micro)).toBe((await one('SELECT sum(cost_usd)::text FROM model_calls'))?.replace('.', ''));
    expect(new Set(rows.map(({ owner }) => owner))).toEqual(new Set(names));
  });

  it('begins with --from and ends before --to, days being those of UTC', async () => {
    const minutes = async (...args: string[]) => {
      const found = (await jsonl(...args)).map(({ input_tokens: minute }) => minute);
      return [found[0], found.at(-1), found.length];
    };
    expect(await minutes('--from', '2026-03-02')).toEqual([1_440, calls - 1, calls - 1_440]);
    expect(await minutes('--to', '2026-03-02')).toEqual([0, 1_439, 1_440]);
    expect(await minutes('--from', '2026-03-01T01:00:00+01:00', '--to', '2026-03-01T00:01:00.001Z')).toEqual([0, 1, 2]);
    expect(await minutes('--from', '2026-03-02', '--to', '2026-03-02')).toEqual([undefined, undefined, 0]);
  });

  it('is that of one owner, one tenant or both when asked so, the empty tenant included', async () => {
    const count = async (...args: string[]) => (await jsonl(...args)).length;
    const where = (sql: string) => one(`SELECT count(*)::int FROM model_calls WHERE ${sql}`);
    expect(await count('--owner', 'Smith, Ada')).toBe(await where(`owner = 'Smith, Ada'`));
    expect(await count('--tenant', '')).toBe(await where(`tenant = ''`));
    expect(await count('--tenant', 'acme', '--owner', '=1+1')).toBe(await where(`tenant = 'acme' AND owner = '=1+1'`));
    expect(await count('--owner', 'nobody')).toBe(0);
  });
});

describe('the ledger as comma-separated values', () => {
  it('has a line of names and every call once, whatever is in a name, and no formula for a spreadsheet to run', async () => {
    const { code, stdout, stderr } = await runOperator(env, 'ledger');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [header, ...records] = readCsv(stdout);
    expect(header).toEqual([...exportColumns]);
    expect(records).toHaveLength(calls);
    const column = (name: (typeof exportColumns)[number]) =>
      records.map((record) => record[exportColumns.indexOf(name)]);
    expect(column('input_tokens')).toEqual(Array.from({ length: calls }, (_, n) => String(n)));
    const shown = names.map((name) => (/^[=@-]/.test(name) ? `'${name}` : name));
    expect(column('owner')).toEqual(Array.from({ length: calls }, (_, n) => shown[n % names.length]));
    expect(column('cost_usd')[2_344]).toBe('12345678901.000000002345');
    expect(column('created_at')[1]).toBe('2026-03-01T00:01:00.000Z');
    expect(column('session_id')[0]).toBe('');
  });

  it('is its line of names alone when there is no call', async () => {
    expect((await runOperator(env, 'ledger', '--owner', 'nobody')).stdout).toBe(`${exportColumns.join(',')}\r\n`);
  });
});

describe('a reader that has seen enough', () => {
  it.each(['ledger', 'ledger --format jsonl', 'budgets list'])('of %s ends it quietly', async (command) => {
    const { code, stderr } = await pipeOperator(env, command, 'true');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('has its line', async () => {
    const { code, stdout, stderr } = await pipeOperator(env, 'ledger', 'head -n 1');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${exportColumns.join(',')}\r\n`, stderr: '' });
  });
});
