import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/db/database.js';
import { bookFailedCall } from '../../../src/db/queries/book-failed-call.js';
import { type ModelCallToOpen, type OpenedCall, openModelCall } from '../../../src/db/queries/open-model-call.js';
import { setOperatorBudget } from '../../../src/db/queries/operator-budgets.js';
import { newId } from '../../../src/ids.js';
import { costUsd, exact } from '../../../src/model/cost.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { silentLog } from '../../support/log.js';
import { type RowWriter, rowWriter } from '../../support/rows.js';

const prices = { input: exact('2.5'), cachedInput: exact('1.25'), output: exact('10') };
const turnsAtOnce = 5;

let testDatabase: TestDatabase;
let database: Database;
let write: RowWriter;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, poolSize: turnsAtOnce + 1, log: silentLog });
  write = rowWriter(database.prisma);
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

/** A running turn, with the call that its owner has open, and what an owner that is dead has left open. */
interface Runner {
  readonly sessionId: string;
  readonly turnId: string;
  epoch: number;
  call: {
    readonly id: string;
    readonly epoch: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  } | null;
}

interface Limits {
  readonly maxCostUsd: string | null;
  readonly maxTokens: number | null;
}

async function startRunners(owner: string, shared: Limits) {
  const budget = await database.prisma.budget.create({
    data: { id: newId(), owner, tenant: '', maxCostUsd: shared.maxCostUsd, maxTokens: shared.maxTokens },
  });
  const runners: Runner[] = [];
  while (runners.length < turnsAtOnce) {
    const sessionId = await write.session({ owner, tenant: '' }, { budgetId: budget.id });
    const [messageId = ''] = await write.messages(sessionId, [{}]);
    const turnId = await write.turn(sessionId, 1, messageId, null, {
      status: 'RUNNING',
      finishReason: null,
      finishedAt: null,
      leaseEpoch: 1,
      leaseExpiresAt: new Date(),
    });
    runners.push({ sessionId, turnId, epoch: 1, call: null });
  }
  return { budgetId: budget.id, runners };
}

const toOpen = (
  owner: string,
  budgetId: string,
  { sessionId, turnId, epoch }: Runner,
  asked: Asked,
): ModelCallToOpen => ({
  id: newId(),
  turnId,
  epoch,
  sessionId,
  budgetId,
  owner,
  tenant: '',
  step: 1,
  attempt: 1,
  model: 'demo',
  inputPrice: '2.50000000',
  cachedInputPrice: '1.25000000',
  outputPrice: '10.00000000',
  purpose: 'ANSWER',
  contextReport: null,
  inputTokens: asked.input,
  wantedOutput: asked.wanted,
  leastOutput: 1,
});

interface Asked {
  readonly input: number;
  readonly wanted: number;
}

/** Settles a call with a part of what was reserved for it, as the owner of an epoch. */
async function settle({ turnId }: Runner, epoch: number, call: NonNullable<Runner['call']>, part: number) {
  const usage = {
    inputTokens: Math.floor(call.inputTokens * part),
    cachedInputTokens: 0,
    outputTokens: Math.floor(call.outputTokens * part),
    reasoningTokens: 0,
  };
  const figures = {
    id: call.id,
    status: 'FAILED' as const,
    ...usage,
    estimated: part < 1,
    costUsd: costUsd(usage, prices).toFixed(12),
    latencyMs: 1,
    timeToFirstTokenMs: null,
    errorCode: 'INTERRUPTED' as const,
    errorRetryable: true,
  };
  return bookFailedCall(database.pool, { turnId, epoch }, figures, { id: newId(), data: {} });
}

const action = fc.record({
  runner: fc.nat(turnsAtOnce - 1),
  asked: fc.record({ input: fc.integer({ min: 1, max: 400 }), wanted: fc.integer({ min: 1, max: 400 }) }),
  part: fc.double({ min: 0, max: 1, noNaN: true }),
  does: fc.constantFrom('opens', 'opens', 'settles', 'settles', 'dies', 'settles too late'),
});
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** At once, by different runners. */
const moments = fc.array(
  fc.uniqueArray(action, { minLength: 1, maxLength: turnsAtOnce, selector: ({ runner }) => runner }),
  { maxLength: 12 },
);
const limits = fc.record({
  maxCostUsd: fc.option(fc.constantFrom('0', '0.000001', '0.004', '0.01'), { nil: null }),
  maxTokens: fc.option(fc.constantFrom(0, 1, 500, 1_000), { nil: null }),
});

async function act(owner: string, budgetId: string, runner: Runner, { does, asked, part }: Action): Promise<void> {
  const { call } = runner;
  if (does === 'opens' && !call) {
    const row = toOpen(owner, budgetId, runner, asked);
    const opened: OpenedCall = await openModelCall(database.pool, row);
    if (opened.kind === 'opened') {
      // Its answer is lost, so it is opened once more.
      expect(await openModelCall(database.pool, row)).toMatchObject({
        kind: 'opened',
        outputTokens: opened.outputTokens,
      });
      runner.call = { id: row.id, epoch: runner.epoch, inputTokens: asked.input, outputTokens: opened.outputTokens };
    }
  } else if (does === 'settles' && call) {
    // By its owner, or by the one that has taken the turn over.
    expect(await settle(runner, runner.epoch, call, part)).toBe(true);
    expect(await settle(runner, runner.epoch, call, 1)).toBe(true);
    runner.call = null;
  } else if (does === 'dies') {
    runner.epoch += 1;
    await database.pool.query('UPDATE turns SET lease_epoch = $2 WHERE id = $1', [runner.turnId, runner.epoch]);
  } else if (does === 'settles too late' && call && call.epoch < runner.epoch) {
    expect(await settle(runner, call.epoch, call, 1)).toBe(false);
  }
}

/** The shared budget and the owner's, with what the ledger says of each. */
async function books(owner: string) {
  const { rows } = await database.pool.query(
    `SELECT b.scope, b.max_cost_usd, b.max_tokens, b.spent_cost_usd, b.spent_tokens, b.held_cost_usd, b.held_tokens,
            coalesce(sum(c.cost_usd), 0) AS cost, coalesce(sum(c.input_tokens + c.output_tokens), 0) AS tokens,
            coalesce(sum(c.held_cost_usd) FILTER (WHERE c.status = 'PENDING'), 0) AS pending_cost,
            coalesce(sum(c.held_tokens) FILTER (WHERE c.status = 'PENDING'), 0) AS pending_tokens
     FROM budgets b LEFT JOIN model_calls c ON b.id = ANY(c.held_by)
     WHERE b.owner = $1 AND b.tenant = '' AND (b.scope = 'OWNER' OR b.max_cost_usd IS NOT NULL OR b.max_tokens IS NOT NULL)
     GROUP BY b.id`,
    [owner],
  );
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, toFigure(value)])));
}

const toFigure = (value: unknown) =>
  typeof value === 'string' && /^\d/.test(value) ? new Decimal(value).toNumber() : value;

function expectKept(all: Awaited<ReturnType<typeof books>>) {
  for (const book of all) {
    expect(book.spent_cost_usd).toBe(book.cost);
    expect(book.spent_tokens).toBe(book.tokens);
    expect(book.held_cost_usd).toBe(book.pending_cost);
    expect(book.held_tokens).toBe(book.pending_tokens);
    const cost = new Decimal(book.spent_cost_usd as number).plus(book.held_cost_usd as number);
    const tokens = (book.spent_tokens as number) + (book.held_tokens as number);
    if (book.max_cost_usd !== null) expect(cost.lessThanOrEqualTo(book.max_cost_usd as number)).toBe(true);
    if (book.max_tokens !== null) expect(tokens).toBeLessThanOrEqual(book.max_tokens as number);
  }
}

describe('whatever calls do, one after the other and at once', () => {
  it('they never spend and reserve more than a limit, and the sums agree with the ledger', async () => {
    const refused = { calls: 0 };
    await fc.assert(
      fc.asyncProperty(moments, limits, limits, async (all, shared, ofOwner) => {
        const owner = newId();
        await setOperatorBudget(database.pool, { tenant: '', owner }, ofOwner);
        const { budgetId, runners } = await startRunners(owner, shared);
        for (const moment of all) {
          const at = moment.map((one) => ({ one, runner: runners[one.runner] as Runner }));
          const before = at.filter(({ one, runner }) => one.does === 'opens' && !runner.call).length;
          await Promise.all(at.map(({ one, runner }) => act(owner, budgetId, runner, one)));
          refused.calls += before - at.filter(({ one, runner }) => one.does === 'opens' && runner.call).length;
          expectKept(await books(owner));
        }
        for (const runner of runners) if (runner.call) await settle(runner, runner.epoch, runner.call, 1);
        const end = await books(owner);
        expectKept(end);
        expect(end.map(({ held_cost_usd: cost, held_tokens: tokens }) => [cost, tokens])).toEqual(
          end.map(() => [0, 0]),
        );
      }),
      { numRuns: 60 },
    );
    // Else this test would show nothing.
    expect(refused.calls).toBeGreaterThan(20);
  }, 120_000);
});
