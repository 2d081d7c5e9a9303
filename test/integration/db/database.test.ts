import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/db/database.js';
import { isDatabaseUnavailable, isUniqueViolation } from '../../../src/db/database-errors.js';
import { findFreePort } from '../../../src/db/embedded/free-port.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { runSql } from '../../support/database-server.js';
import { deferred } from '../../support/deferred.js';
import { recordingLog, silentLog } from '../../support/log.js';

describe('the database handle', () => {
  let testDatabase: TestDatabase;
  const opened: Database[] = [];

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });
  afterAll(() => testDatabase.drop());

  const open = async (options: Partial<Parameters<typeof openDatabase>[0]> = {}) => {
    const database = await openDatabase({ url: testDatabase.url, poolSize: 3, log: silentLog, ...options });
    opened.push(database);
    return database;
  };
  const backends = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'chatsession'`;
  const killAll = () => runSql(testDatabase.url, `SELECT pg_terminate_backend(pid) ${backends}`);
  const countBackends = async () =>
    (await runSql<{ count: number }>(testDatabase.url, `SELECT count(*)::int ${backends}`)).rows[0]?.count;
  /** Resolves once a statement that contains `text` runs. */
  const running = async (text: string) => {
    for (;;) {
      const { rows } = await runSql(testDatabase.url, `SELECT 1 ${backends} AND query LIKE '%${text}%'`);
      if (rows.length > 0) return;
    }
  };
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.unreachable('it should have failed'),
      (error: unknown) => error,
    );

  it('serves Prisma and hand-written SQL from the same few connections', async () => {
    const { pool, prisma } = await open({ poolSize: 2 });
    await Promise.all([
      ...Array.from({ length: 10 }, () => pool.query('SELECT 1')),
      ...Array.from({ length: 10 }, () => prisma.budget.count()),
    ]);
    expect(await countBackends()).toBe(2);
  });

  it('bounds how long a statement may run', async () => {
    const { pool } = await open();
    expect((await pool.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '15s' }]);
    await pool.query(`SET statement_timeout = '50ms'`);
    const error = await failure(pool.query('SELECT pg_sleep(10)'));
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  describe('when connections are killed', () => {
    it.each(['pg', 'Prisma'])('lives on and reconnects after they were idle, with %s alone', async (user) => {
      const { log, lines } = recordingLog();
      const { pool, prisma } = await open({ log });
      const query = async () => (user === 'pg' ? (await pool.query('SELECT 1')).rowCount : prisma.$queryRaw`SELECT 1`);
      await Promise.all([query(), query()]);
      await killAll();
      await expect.poll(() => pool.totalCount, { timeout: 5_000 }).toBe(0);
      expect(await query()).toBeTruthy();
      expect(lines.join('')).toContain('A database connection broke');
      const { password } = new URL(testDatabase.url);
      if (password !== '') expect(lines.join('')).not.toContain(password);
    });

    it('fails the statements that ran, in a way that can be told, and reconnects', async () => {
      const { pool, prisma } = await open();
      const statements = [
        failure(pool.query('SELECT pg_sleep(60)')),
        failure(prisma.$queryRaw`SELECT pg_sleep(60)::text`),
      ];
      await running('pg_sleep(60)');
      await killAll();
      for (const error of await Promise.all(statements)) expect(isDatabaseUnavailable(error)).toBe(true);
      expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      expect(await prisma.budget.count()).toBe(0);
    });

    it('leaves nothing of a transaction behind and reconnects', async () => {
      const { prisma } = await open();
      const error = await failure(
        prisma.$transaction(async (transaction) => {
          await transaction.budget.create({ data: { id: '00000000-0000-7000-8000-000000000001', owner: 'ann' } });
          await killAll();
          await transaction.budget.count();
        }),
      );
      expect(isDatabaseUnavailable(error)).toBe(true);
      expect(await prisma.budget.count()).toBe(0);
    });

    it('lives on when one is killed between the statements of a client that was checked out', async () => {
      const { pool } = await open();
      const client = await pool.connect();
      const ended = new Promise((resolve) => client.once('end', resolve));
      await killAll();
      await ended;
      expect(isDatabaseUnavailable(await failure(client.query('SELECT 1')))).toBe(true);
      client.release();
      expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    });
  });

  describe('when every connection is taken', () => {
    it('fails a waiting statement in bounded time, and serves again when one is free', async () => {
      const { pool, prisma } = await open({ poolSize: 2, connectTimeoutMs: 1_000 });
      const holders = await Promise.all([pool.connect(), pool.connect()]);
      const startedAt = performance.now();
      const errors = await Promise.all([failure(pool.query('SELECT 1')), failure(prisma.budget.count())]);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      for (const error of errors) expect(isDatabaseUnavailable(error)).toBe(true);
      for (const holder of holders) holder.release();
      expect(await prisma.budget.count()).toBe(0);
    });
  });

  it('A79: stays quick with a pool of 5 under 50 tasks that wait for something slow', async () => {
    const { pool, prisma } = await open({ poolSize: 5 });
    const { promise: slowAnswer, resolve: answer } = deferred();
    const tasks = Array.from({ length: 50 }, async () => {
      await pool.query('SELECT 1');
      await slowAnswer;
      await prisma.budget.count();
    });
    for (let round = 0; round < 20; round += 1) {
      const startedAt = performance.now();
      await Promise.all([pool.query('SELECT 1'), prisma.budget.count()]);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    }
    expect(pool.waitingCount).toBe(0);
    answer();
    await Promise.all(tasks);
  });

  it('can be closed twice, leaves no connection, and says so to whoever comes late', async () => {
    const { pool, prisma, close } = await open();
    await Promise.all([pool.query('SELECT 1'), prisma.budget.count()]);
    await Promise.all([close(), close()]);
    await close();
    await expect.poll(countBackends).toBe(0);
    expect(isDatabaseUnavailable(await failure(pool.query('SELECT 1')))).toBe(true);
    expect(isDatabaseUnavailable(await failure(prisma.budget.count()))).toBe(true);
  });

  it('tells a database that is not there from a statement that is wrong', async () => {
    const url = new URL(testDatabase.url);
    url.hostname = '127.0.0.1';
    url.port = String(await findFreePort());
    const absent = await open({ url: url.href });
    expect(isDatabaseUnavailable(await failure(absent.pool.query('SELECT 1')))).toBe(true);
    expect(isDatabaseUnavailable(await failure(absent.prisma.budget.count()))).toBe(true);
    expect(isDatabaseUnavailable(await failure(absent.prisma.$transaction(async () => {})))).toBe(true);

    const { pool, prisma } = await open();
    expect(isDatabaseUnavailable(await failure(pool.query('SELECT nonsense')))).toBe(false);
    expect(isDatabaseUnavailable(await failure(prisma.$queryRaw`SELECT nonsense`))).toBe(false);
    expect(isDatabaseUnavailable(new TypeError('undefined is not a function'))).toBe(false);
    expect(isDatabaseUnavailable(undefined)).toBe(false);
  });

  it('tells which unique rule a row broke, through pg and through Prisma', async () => {
    const { pool, prisma } = await open();
    const row = { id: '00000000-0000-7000-8000-000000000002', owner: 'ann' };
    await prisma.budget.create({ data: row });
    const errors = await Promise.all([
      failure(pool.query('INSERT INTO budgets (id, owner) VALUES ($1, $2)', [row.id, row.owner])),
      failure(prisma.budget.create({ data: row })),
    ]);
    for (const error of errors) {
      expect(isUniqueViolation(error)).toBe(true);
      expect(isUniqueViolation(error, 'budgets_pkey')).toBe(true);
      expect(isUniqueViolation(error, 'turns_one_active_per_session_key')).toBe(false);
      expect(isDatabaseUnavailable(error)).toBe(false);
    }
    expect(isUniqueViolation(await failure(pool.query('SELECT nonsense')))).toBe(false);
    await prisma.budget.deleteMany();
  });
});
