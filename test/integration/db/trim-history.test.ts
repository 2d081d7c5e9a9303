import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/db/database.js';
import { trimHistory } from '../../../src/db/queries/trim-history.js';
import { inTransaction } from '../../../src/db/transaction.js';
import { newId } from '../../../src/ids.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { silentLog } from '../../support/log.js';
import { rowWriter } from '../../support/rows.js';

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await openDatabase({ url: test.url, poolSize: 2, log: silentLog });
});
afterAll(async () => {
  await database.close();
  await test.drop();
});

describe('trimming a history', () => {
  it('reads what is in it from its new end, and no whole table, though statistics expect much of every session', async () => {
    const { prisma, pool } = database;
    const write = rowWriter(prisma);
    const sessionId = await write.session({ owner: 'ada', tenant: '' });
    await write.messages(
      sessionId,
      Array.from({ length: 4_000 }, () => ({ content: 'word '.repeat(50) })),
    );
    await pool.query('ANALYZE');
    const plan = await inTransaction(pool, async (db) => {
      expect(await trimHistory(db, sessionId, 20, { id: newId(), turnId: null })).toBe(20);
      const { rows } = await db.query<{ 'QUERY PLAN': string }>({
        text: `EXPLAIN EXECUTE "trim-history" ('${sessionId}', 20, '${newId()}', NULL)`,
      });
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain('Index Scan Backward using messages_history_idx');
    expect(plan).not.toContain('Seq Scan on messages');
    const kept = await prisma.message.findMany({ where: { sessionId, trimmedAt: null }, orderBy: { sequence: 'asc' } });
    expect(kept.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 20 }, (_, at) => 3_981 + at));
  });
});
