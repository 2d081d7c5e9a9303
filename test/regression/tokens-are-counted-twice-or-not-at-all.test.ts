import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn } from '../support/client.js';
import * as script from '../support/script.js';

// Field reports A47, A48 and A49: cached input is charged at both rates, reasoning is added on top or left out, and a
// streamed turn costs nothing because usage was never asked for. The same kind: figures that make no sense, that come
// more than once, or that never come because the turn was cut.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  // 2.5, 1.25 for cached input, and 10 USD per million tokens.
  app = await startTestApp({ MODEL_IDLE_TIMEOUT_MS: '400' });
  client = chatClient(app.url);
});
afterAll(() => app.close());

interface Figures {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly estimated: boolean;
}

/** Streams one turn in a session of its own and collects what every place says of its usage and cost. */
async function streamAndCollect(scripted: script.Script) {
  const before = (await client.run('{ viewer { totalCostUsd totalTokens } }')).data.viewer;
  const id = await client.createSession();
  app.provider.enqueue([script.text('an answer of some words'), scripted]);
  const events = await openTurn(app.url, 'ws', id, 'a question of some words').rest();
  const session = await client.session(id);
  const { data } = await client.run(
    `query ($id: ID!) {
      chatSession(id: $id) { turns(first: 1) { nodes { costUsd usage { ...All } response { costUsd tokensUsed usage { ...All } } } } }
      viewer { totalCostUsd totalTokens }
    }
    fragment All on Usage { inputTokens cachedInputTokens outputTokens reasoningTokens totalTokens estimated }`,
    { id },
  );
  const [turn] = data.chatSession.turns.nodes;
  const step = events.find(({ __typename }) => __typename === 'StepCompleted');
  const { response } = events.at(-1);
  const usages: Figures[] = [
    ...(step ? [step.usage] : []),
    response.usage,
    turn.usage,
    turn.response.usage,
    session.usage,
    session.modelCalls.nodes[0].usage,
  ];
  const costs: number[] = [
    ...(step ? [step.costUsd, step.budget.spentCostUsd] : []),
    response.costUsd,
    response.session.totalCostUsd,
    turn.costUsd,
    turn.response.costUsd,
    session.totalCostUsd,
    session.budget.spentCostUsd,
    session.modelCalls.nodes[0].costUsd,
  ];
  const tokens: number[] = [
    ...(step ? [step.budget.spentTokens] : []),
    response.tokensUsed,
    response.session.totalTokens,
    turn.response.tokensUsed,
    session.totalTokens,
    session.budget.spentTokens,
  ];
  expect(data.viewer.totalTokens - before.totalTokens).toBe(tokens[0]);
  expect(data.viewer.totalCostUsd - before.totalCostUsd).toBeCloseTo(costs[0] ?? Number.NaN, 12);
  return { id, session, usages, costs, tokens };
}

const all = <T>(values: readonly T[]) => values.map(() => values[0]);

describe('the cost of a turn, the same in every event, answer, total, budget and ledger row,', () => {
  const reported: readonly [string, script.ScriptedUsage, number, Figures][] = [
    [
      'charges cached input at its own price only',
      { prompt: 2006, cached: 1920, completion: 300 },
      // 86 × 2.5 + 1920 × 1.25 + 300 × 10, in millionths of a dollar.
      0.005615,
      {
        inputTokens: 2006,
        cachedInputTokens: 1920,
        outputTokens: 300,
        reasoningTokens: 0,
        totalTokens: 2306,
        estimated: false,
      },
    ],
    [
      'holds reasoning once, inside of the output',
      { prompt: 26, completion: 266, reasoning: 261 },
      0.002725,
      {
        inputTokens: 26,
        cachedInputTokens: 0,
        outputTokens: 266,
        reasoningTokens: 261,
        totalTokens: 292,
        estimated: false,
      },
    ],
    [
      'takes a prompt that was cached whole',
      { prompt: 1000, cached: 1000, completion: 1 },
      0.00126,
      {
        inputTokens: 1000,
        cachedInputTokens: 1000,
        outputTokens: 1,
        reasoningTokens: 0,
        totalTokens: 1001,
        estimated: false,
      },
    ],
    [
      'takes an output that was all reasoning but for one token',
      { prompt: 1, completion: 100, reasoning: 99 },
      0.0010025,
      {
        inputTokens: 1,
        cachedInputTokens: 0,
        outputTokens: 100,
        reasoningTokens: 99,
        totalTokens: 101,
        estimated: false,
      },
    ],
  ];
  it.each(reported)('%s', async (_what, usage, cost, figures) => {
    const { usages, costs, tokens } = await streamAndCollect([script.finish('stop'), script.usage(usage)]);
    expect(usages).toEqual(usages.map(() => figures));
    expect(costs).toEqual(costs.map(() => cost));
    expect(tokens).toEqual(tokens.map(() => figures.totalTokens));
  });

  const odd: readonly [string, script.Script, Partial<Figures>, number][] = [
    [
      'counts reasoning that a gateway reports beside the output, once',
      [
        script.chunk({
          choices: [],
          usage: {
            prompt_tokens: 26,
            completion_tokens: 5,
            total_tokens: 292,
            completion_tokens_details: { reasoning_tokens: 261 },
          },
        }),
      ],
      { outputTokens: 266, reasoningTokens: 261, totalTokens: 292, estimated: false },
      0.002725,
    ],
    [
      'takes the last of usage that grows from chunk to chunk, and not their sum',
      [10, 20, 30].map((completion) => script.usage({ prompt: 100, completion })),
      { inputTokens: 100, outputTokens: 30, totalTokens: 130, estimated: false },
      0.00055,
    ],
    [
      'charges everything at the full price when more was cached than sent',
      [script.usage({ prompt: 100, cached: 500, completion: 10 })],
      { inputTokens: 100, cachedInputTokens: 0, outputTokens: 10, estimated: false },
      0.00035,
    ],
    [
      'takes usage without its parts',
      [script.chunk({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } })],
      { inputTokens: 100, cachedInputTokens: 0, outputTokens: 10, reasoningTokens: 0, estimated: false },
      0.00035,
    ],
  ];
  it.each(odd)('%s', async (_what, chunks, figures, cost) => {
    const { usages, costs } = await streamAndCollect([script.finish('stop'), chunks]);
    expect(usages).toEqual(all(usages));
    expect(usages[0]).toMatchObject(figures);
    expect(costs).toEqual(costs.map(() => cost));
  });

  it('adds up over a conversation to what its calls cost', async () => {
    const id = await client.createSession();
    app.provider.enqueue(
      script.reply('one', { usage: { prompt: 2006, cached: 1920, completion: 300 } }),
      script.reply('two', { usage: { prompt: 26, completion: 266, reasoning: 261 } }),
      script.reply('three', { usage: null }),
    );
    for (const message of ['1', '2', '3']) await client.send(id, message);
    const { modelCalls, totalTokens, totalCostUsd, usage } = await client.session(id);
    const [one, two, three] = modelCalls.nodes.map(({ costUsd }: { costUsd: number }) => Math.round(costUsd * 1e12));
    expect([one, two]).toEqual([5_615_000_000, 2_725_000_000]);
    expect(Math.round(totalCostUsd * 1e12)).toBe(one + two + three);
    const sum = (name: keyof Figures) =>
      modelCalls.nodes.reduce((total: number, call: { usage: Figures }) => total + Number(call.usage[name]), 0);
    for (const name of [
      'inputTokens',
      'cachedInputTokens',
      'outputTokens',
      'reasoningTokens',
      'totalTokens',
    ] as const) {
      expect(usage[name], name).toBe(sum(name));
    }
    expect(totalTokens).toBe(sum('totalTokens'));
    // One estimate among exact figures makes the total an estimate.
    expect(usage.estimated).toBe(true);
  });

  it('holds a call that was retried once, and its failed attempts with nothing', async () => {
    const id = await client.createSession();
    app.provider.enqueue([script.httpError(429, undefined, { 'retry-after-ms': '1' })], script.reply('fine'));
    const reply = await client.send(id, 'again');
    expect(reply).toMatchObject({ tokensUsed: 15, costUsd: 0.000075, usage: { estimated: false } });
    const { modelCalls, budget } = await client.session(id);
    expect(modelCalls.nodes.map((call: { costUsd: number }) => call.costUsd)).toEqual([0, 0.000075]);
    expect(budget).toMatchObject({ spentTokens: 15, spentCostUsd: 0.000075 });
  });
});

describe('a provider that is asked for a stream', () => {
  it('is asked for its usage, too', async () => {
    await client.send(await client.createSession(), 'hello');
    const { body } = app.provider.requests.at(-1) ?? { body: {} };
    expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  const without: readonly [string, script.Script][] = [
    ['sends none', [script.finish('stop')]],
    ['sends null', [script.finish('stop'), script.usage(null)]],
    ['sends nothing but zeros', [script.finish('stop'), script.usage({ prompt: 0, completion: 0 })]],
    ['sends negative figures', [script.finish('stop'), script.usage({ prompt: -5, completion: -5 })]],
    [
      'sends text for figures',
      [script.finish('stop'), script.chunk({ choices: [], usage: { prompt_tokens: 'many' } })],
    ],
    ['breaks off before it', [script.cutFin]],
    ['falls silent before it', [script.silence()]],
  ];
  it.each(without)('and %s: an estimate is booked, marked as one, and the budget moves', async (_what, scripted) => {
    const { session, usages, costs, tokens } = await streamAndCollect(scripted);
    expect(usages).toEqual(all(usages));
    expect(costs).toEqual(all(costs));
    expect(tokens).toEqual(all(tokens));
    const [usage] = usages;
    expect(usage?.estimated).toBe(true);
    // Ten words of question and system prompt and the three tools of every session, five of the answer; a token is about three quarters
    // of a word.
    expect(usage?.inputTokens).toBeGreaterThan(8);
    expect(usage?.inputTokens).toBeLessThan(400);
    expect(usage?.outputTokens).toBe(5);
    expect(costs[0]).toBeCloseTo(((usage?.inputTokens ?? 0) * 2.5 + 5 * 10) / 1e6, 12);
    expect(session.budget.remainingTokens).toBe(500_000 - (tokens[0] ?? 0));
  });

  it('and is stopped by the user: what had come is booked as an estimate', async () => {
    const id = await client.createSession();
    app.provider.enqueue([script.text('an answer of some words'), script.silence()]);
    const turn = openTurn(app.url, 'ws', id, 'a question of some words');
    await turn.until(({ __typename }) => __typename === 'TextDelta');
    await client.stop(id);
    const end = (await turn.rest()).at(-1);
    expect(end).toMatchObject({ __typename: 'TurnStopped', response: { usage: { estimated: true, outputTokens: 5 } } });
    const { budget, totalCostUsd } = await client.session(id);
    expect(totalCostUsd).toBeGreaterThan(0);
    expect(budget.spentCostUsd).toBe(totalCostUsd);
  });

  it('and never answers, for a limit of tokens: estimates use the budget up', async () => {
    const id = await client.createSession({ tools: [], budget: { maxTokens: 100 } });
    app.provider.onRequest(() => script.reply('an answer of some words', { usage: null }));
    const codes: unknown[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      codes.push((await client.trySend(id, 'a question')).errors?.[0]?.extensions?.code);
    }
    app.provider.onRequest(() => undefined);
    expect(codes).toContain('BUDGET_EXCEEDED');
    expect(codes.at(-1)).toBe('BUDGET_EXCEEDED');
  });
});
