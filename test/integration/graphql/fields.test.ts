import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorTable } from '../../../src/errors.js';
import { globalId } from '../../../src/graphql/ids.js';
import { newId } from '../../../src/ids.js';
import { startTestSchema, type TestSchema } from '../../support/graphql.js';
import { type RowWriter, rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
let api: TestSchema;
let write: RowWriter;

beforeAll(async () => {
  api = await startTestSchema();
  write = rowWriter(api.database.prisma);
});
afterAll(() => api.close());

const readSession = async (session: string, fields: string) => {
  const { data, errors } = await api.run(ada, `query ($id: ID!) { chatSession(id: $id) { ${fields} } }`, {
    id: globalId('ChatSession', session),
  });
  expect(errors).toBeUndefined();
  return data.chatSession;
};

describe('money and tokens', () => {
  it('are exact sums, with one rounding on the way out', async () => {
    const session = await write.session(ada);
    await api.database.pool.query(
      `INSERT INTO model_calls (id, session_id, owner, purpose, model, status, settled_at, cost_usd, input_tokens)
       SELECT gen_random_uuid(), $1, 'sums', 'ANSWER', 'demo', 'SUCCEEDED', now(), 0.0000137, 3 FROM generate_series(1, 1000)`,
      [session],
    );
    const { data } = await api.run({ owner: 'sums', tenant: '' }, '{ viewer { totalCostUsd totalTokens } }');
    expect(data.viewer).toEqual({ totalCostUsd: 0.0137, totalTokens: 3000 });
  });

  it.each([
    ['0', 0],
    ['0.000000000001', 1e-12],
    ['0.1', 0.1],
    ['999999999999.999999999999', 1e12],
    ['123456.789', 123456.789],
  ])('give %s USD as the nearest number', async (stored, expected) => {
    const session = await write.session(ada, { totalCostUsd: stored });
    expect(await readSession(session, 'totalCostUsd')).toEqual({ totalCostUsd: expected });
  });

  it('count tokens beyond 2^31, up to 2^53 - 1', async () => {
    const session = await write.session(ada, {
      inputTokens: 2n ** 53n - 3n,
      cachedInputTokens: 2n ** 32n,
      outputTokens: 2n,
      reasoningTokens: 1n,
      usageEstimated: true,
    });
    const fields =
      'totalTokens usage { inputTokens cachedInputTokens outputTokens reasoningTokens totalTokens estimated }';
    expect(await readSession(session, fields)).toEqual({
      totalTokens: 2 ** 53 - 1,
      usage: {
        inputTokens: 2 ** 53 - 3,
        cachedInputTokens: 2 ** 32,
        outputTokens: 2,
        reasoningTokens: 1,
        totalTokens: 2 ** 53 - 1,
        estimated: true,
      },
    });
  });
});

describe('a budget', () => {
  const fields = `budget {
    id maxCostUsd maxTokens spentCostUsd spentTokens remainingCostUsd remainingTokens shared
  }`;

  it('has what is left after spending and holds, never below zero', async () => {
    const budget = (values: object) =>
      api.database.prisma.budget.create({ data: { id: newId(), owner: 'ada', ...values } });
    const some = await budget({
      maxCostUsd: '1',
      maxTokens: 100n,
      spentCostUsd: '0.7',
      spentTokens: 40n,
      heldCostUsd: '0.2',
      heldTokens: 10n,
    });
    const first = await write.session(ada, { budgetId: some.id });
    expect(await readSession(first, fields)).toEqual({
      budget: {
        id: globalId('Budget', some.id),
        maxCostUsd: 1,
        maxTokens: 100,
        spentCostUsd: 0.7,
        spentTokens: 40,
        remainingCostUsd: 0.1,
        remainingTokens: 50,
        shared: false,
      },
    });
    const second = await write.session(ada, { budgetId: some.id });
    for (const session of [first, second]) {
      expect(await readSession(session, 'budget { id shared }')).toEqual({
        budget: { id: globalId('Budget', some.id), shared: true },
      });
    }

    const over = await budget({ maxCostUsd: '0', maxTokens: 0n, spentCostUsd: '0.5', spentTokens: 5n });
    expect(await readSession(await write.session(ada, { budgetId: over.id }), fields)).toMatchObject({
      budget: { maxCostUsd: 0, maxTokens: 0, remainingCostUsd: 0, remainingTokens: 0 },
    });
    const unlimited = await budget({ spentCostUsd: '3' });
    expect(await readSession(await write.session(ada, { budgetId: unlimited.id }), fields)).toMatchObject({
      budget: { maxCostUsd: null, maxTokens: null, remainingCostUsd: null, remainingTokens: null, spentCostUsd: 3 },
    });
  });
});

describe('a turn', () => {
  const fields = `turns { nodes {
    number status finishReason error { code message retryable } costUsd usage { totalTokens }
    userMessage { content } messages { content }
    response { content finishReason tokensUsed costUsd toolCallsMade usage { totalTokens } message { id content } turn { number } session { id } }
  } }`;

  it('has the reply, and everything that was said in it, also what was trimmed since', async () => {
    const session = await write.session(ada);
    const [question, answer] = await write.messages(session, [
      { content: 'question', trimmedAt: new Date() },
      { content: 'answer', role: 'ASSISTANT' },
    ]);
    await write.turn(session, 1, String(question), answer, {
      inputTokens: 10n,
      outputTokens: 5n,
      costUsd: '0.0000137',
      toolCallsMade: 2,
    });
    const { turns } = await readSession(session, fields);
    expect(turns.nodes).toEqual([
      {
        number: 1,
        status: 'COMPLETED',
        finishReason: 'STOP',
        error: null,
        costUsd: 0.0000137,
        usage: { totalTokens: 15 },
        userMessage: { content: 'question' },
        messages: [{ content: 'question' }, { content: 'answer' }],
        response: {
          content: 'answer',
          finishReason: 'STOP',
          tokensUsed: 15,
          costUsd: 0.0000137,
          toolCallsMade: 2,
          usage: { totalTokens: 15 },
          message: { id: globalId('Message', String(answer)), content: 'answer' },
          turn: { number: 1 },
          session: { id: globalId('ChatSession', session) },
        },
      },
    ]);
  });

  it('says why it failed in the words of the error table, and knows codes of newer servers as INTERNAL', async () => {
    const session = await write.session(ada);
    const ids = await write.messages(session, [{}, {}]);
    const failed = { status: 'FAILED', finishReason: 'ERROR' } as const;
    await write.turn(session, 1, String(ids[0]), null, {
      ...failed,
      errorCode: 'PROVIDER_TIMEOUT',
      errorRetryable: false,
    });
    await write.turn(session, 2, String(ids[1]), null, { ...failed, errorCode: 'toString', errorRetryable: true });
    const { turns } = await readSession(session, fields);
    expect(turns.nodes[0]).toMatchObject({
      status: 'FAILED',
      error: { code: 'PROVIDER_TIMEOUT', message: errorTable.PROVIDER_TIMEOUT.message, retryable: false },
      response: { content: '', finishReason: 'ERROR', message: null },
    });
    expect(turns.nodes[1].error).toEqual({ code: 'INTERNAL', message: errorTable.INTERNAL.message, retryable: true });
  });

  it('has no response while it runs, and is the active turn of its session', async () => {
    const session = await write.session(ada);
    const [message] = await write.messages(session, [{}]);
    const id = await write.turn(session, 1, String(message), null, {
      status: 'RUNNING',
      finishReason: null,
      finishedAt: null,
      leaseExpiresAt: new Date(),
    });
    await api.database.prisma.chatSession.update({ where: { id: session }, data: { activeTurnId: id } });
    const { activeTurn } = await readSession(
      session,
      'activeTurn { id status finishReason finishedAt response { content session { id } } session { turnCount } }',
    );
    expect(activeTurn).toEqual({
      id: globalId('Turn', id),
      status: 'RUNNING',
      finishReason: null,
      finishedAt: null,
      response: null,
      session: { turnCount: 1 },
    });
  });
});

describe('the ledger and the trace', () => {
  it('show calls and records with their turn, and only the kinds that were asked for', async () => {
    const session = await write.session(ada);
    const [message] = await write.messages(session, [{}]);
    const turnId = await write.turn(session, 1, String(message));
    await write.modelCall(ada, {
      sessionId: session,
      turnId,
      step: 1,
      latencyMs: 12,
      timeToFirstTokenMs: 5,
      costUsd: '0.5',
    });
    await write.modelCall(ada, {
      sessionId: session,
      purpose: 'TITLE',
      status: 'FAILED',
      errorCode: 'PROVIDER_AUTH',
      errorRetryable: false,
    });
    await write.traceEvents(session, [
      { type: 'HISTORY_SEEDED', data: { seededCount: 2, roles: { user: 2 } } },
      { type: 'TURN_STARTED', turnId, data: {} },
      { type: 'TURN_FINISHED', turnId, data: {} },
    ]);
    const { modelCalls, traceEvents, seeds, none } = await readSession(
      session,
      `modelCalls { totalCount nodes { step purpose model costUsd latencyMs timeToFirstTokenMs error { code } turn { number } } }
       traceEvents { totalCount nodes { sequence type turn { number } } }
       seeds: traceEvents(types: [HISTORY_SEEDED, BUDGET_EXCEEDED]) { totalCount nodes { type data } }
       none: traceEvents(types: []) { totalCount nodes { type } }`,
    );
    expect(modelCalls).toEqual({
      totalCount: 2,
      nodes: [
        {
          step: 1,
          purpose: 'ANSWER',
          model: 'demo',
          costUsd: 0.5,
          latencyMs: 12,
          timeToFirstTokenMs: 5,
          error: null,
          turn: { number: 1 },
        },
        {
          step: null,
          purpose: 'TITLE',
          model: 'demo',
          costUsd: 0,
          latencyMs: null,
          timeToFirstTokenMs: null,
          error: { code: 'PROVIDER_AUTH' },
          turn: null,
        },
      ],
    });
    expect(traceEvents).toEqual({
      totalCount: 3,
      nodes: [
        { sequence: 1, type: 'HISTORY_SEEDED', turn: null },
        { sequence: 2, type: 'TURN_STARTED', turn: { number: 1 } },
        { sequence: 3, type: 'TURN_FINISHED', turn: { number: 1 } },
      ],
    });
    expect(seeds).toEqual({
      totalCount: 1,
      nodes: [{ type: 'HISTORY_SEEDED', data: { seededCount: 2, roles: { user: 2 } } }],
    });
    expect(none).toEqual({ totalCount: 0, nodes: [] });
  });
});

describe('the viewer', () => {
  it('is the caller, with what deleted sessions cost', async () => {
    const who = { owner: 'spender', tenant: 'acme' };
    const kept = await write.session(who);
    const gone = await write.session(who);
    await write.modelCall(who, { sessionId: kept, inputTokens: 1n, outputTokens: 2n, costUsd: '0.1' });
    await write.modelCall(who, { sessionId: gone, inputTokens: 3n, outputTokens: 4n, costUsd: '0.2' });
    await write.modelCall({ owner: 'spender', tenant: '' }, { costUsd: '100' });
    await api.database.prisma.chatSession.delete({ where: { id: gone } });
    const { data } = await api.run(who, '{ viewer { id tenant sessionCount totalTokens totalCostUsd } }');
    expect(data.viewer).toEqual({
      id: 'spender',
      tenant: 'acme',
      sessionCount: 1,
      totalTokens: 10,
      totalCostUsd: 0.3,
    });
    expect((await api.run(ada, '{ viewer { id tenant } }')).data.viewer).toEqual({ id: 'ada', tenant: null });
  });
});

describe('models', () => {
  it('lists the models with prices, exactly one of them as the default', async () => {
    const { data, errors } = await api.run(
      ada,
      '{ models { id contextWindow maxOutputTokens inputPrice cachedInputPrice outputPrice isDefault } }',
    );
    expect(errors).toBeUndefined();
    expect(data.models.filter(({ isDefault }: { isDefault: boolean }) => isDefault)).toHaveLength(1);
    expect(data.models).toContainEqual(
      expect.objectContaining({ id: 'demo', isDefault: true, inputPrice: expect.any(Number) }),
    );
  });
});
