import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usageOfCaller, usageOfSessions } from '../../../src/db/queries/usage-sums.js';
import { startTestSchema, statementsOf, type TestSchema } from '../../support/graphql.js';
import { rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
const march = { from: new Date('2026-03-01T00:00:00Z'), to: new Date('2026-03-02T00:00:00Z') };
const sessionIds: string[] = [];
let api: TestSchema;
beforeAll(async () => {
  api = await startTestSchema();
  const write = rowWriter(api.database.prisma);
  for (let index = 0; index < 30; index += 1) {
    const sessionId = await write.session(ada);
    sessionIds.push(sessionId);
    for (let call = 0; call <= index % 2; call += 1) {
      await write.modelCall(ada, { sessionId, inputTokens: index, createdAt: march.from });
    }
  }
});
afterAll(() => api.close());

describe('the usage of many sessions', () => {
  it('is one statement for each place where it is asked for, and every session has its own', async () => {
    const list = `query ($from: DateTime, $to: DateTime) {
      chatSessions(first: 30) { nodes {
        id
        days: usageBy(by: [DAY], from: $from, to: $to) { day calls usage { inputTokens } }
        models: usageBy(by: [MODEL], from: $from, to: $to) { model calls }
      } }
    }`;
    const statements = await statementsOf(async () => {
      const { data, errors } = await api.run(ada, list, march);
      expect(errors).toBeUndefined();
      const { nodes } = data.chatSessions;
      expect(nodes).toHaveLength(30);
      for (const { id, days, models } of nodes) {
        const index = sessionIds.indexOf(Buffer.from(id, 'base64').toString().split(':')[1] ?? '');
        const calls = (index % 2) + 1;
        expect(days).toEqual([{ day: march.from.toISOString(), calls, usage: { inputTokens: calls * index } }]);
        expect(models).toEqual([{ model: 'demo', calls }]);
      }
    });
    expect(statements.filter((text) => text.includes('FROM model_calls'))).toHaveLength(2);
    // One more reads the page.
    expect(statements).toHaveLength(3);
  });
});

describe('usage among many calls', () => {
  it('reads those of the range by an index, and no whole table', async () => {
    const { pool } = api.database;
    await pool.query(
      `INSERT INTO model_calls (id, owner, session_id, purpose, model, status, settled_at, created_at)
       SELECT gen_random_uuid(), CASE WHEN n % 100 = 0 THEN 'ada' ELSE 'o' || n % 100 END,
              CASE WHEN n % 100 = 0 THEN ($1::uuid[])[n / 100 % 30 + 1] END, 'ANSWER', 'demo', 'SUCCEEDED', now(),
              timestamptz '2025-03-01T00:00:00Z' + n * interval '15 minutes'
       FROM generate_series(1, 40000) AS n`,
      [sessionIds],
    );
    await pool.query('ANALYZE model_calls');
    const query = { byDay: true, byModel: true, ...march };
    const range = `'${march.from.toISOString()}', '${march.to.toISOString()}'`;
    const planOf = async (run: (db: Parameters<typeof usageOfCaller>[0]) => Promise<unknown>, execute: string) => {
      const client = await pool.connect();
      try {
        await run(client);
        // The plan for values that are not known, which Postgres may come to prefer.
        await client.query({ text: 'SET plan_cache_mode = force_generic_plan' });
        const { rows } = await client.query<{ 'QUERY PLAN': string }>({ text: `EXPLAIN EXECUTE ${execute}` });
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      } finally {
        client.release(true);
      }
    };
    const ofCaller = await planOf(
      (db) => usageOfCaller(db, ada, query),
      `"usage-of-caller-day-model" (${range}, '', 'ada')`,
    );
    expect(ofCaller).toContain('model_calls_tenant_owner_created_at_id_idx');
    expect(ofCaller).not.toContain('Seq Scan');
    expect(ofCaller).toMatch(/Index Cond: .*tenant = .*owner = .*created_at >= .*created_at < /);
    const ofSessions = await planOf(
      (db) => usageOfSessions(db, sessionIds.slice(0, 3), query),
      `"usage-of-sessions-day-model" (${range}, '{${sessionIds.slice(0, 3).join(',')}}')`,
    );
    expect(ofSessions).toContain('model_calls_session_id_created_at_id_idx');
    expect(ofSessions).not.toContain('Seq Scan');
    expect(ofSessions).toMatch(/Index Cond: .*session_id = .*created_at >= .*created_at < /);
  });
});
