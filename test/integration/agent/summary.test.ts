import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import { loadConfig } from '../../../src/config.js';
import type { ContextReport } from '../../../src/events/context-report.js';
import { startTestChat, type TestChat } from '../../support/chat.js';
import { prose } from '../../support/histories.js';
import type { RecordedRequest } from '../../support/provider.js';
import * as script from '../../support/script.js';

const window = { contextWindow: 8192, maxOutputTokens: 1024, inputPrice: 2.5, cachedInputPrice: 1.25, outputPrice: 10 };
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({}),
  sideEffect: 'read',
  run: () => 'nothing new',
});

let test: TestChat;
let answerSummary: () => script.Script = () => script.reply('They spoke of ships.');
const isSummary = ({ body }: RecordedRequest) => body.model === 'cheap';
const summaries = () => test.provider.requests.filter(isSummary);

beforeAll(async () => {
  test = await startTestChat(
    {
      MODELS: JSON.stringify({ scripted: window, cheap: { ...window, inputPrice: 0.1, outputPrice: 0.2 } }),
      SUMMARY_MODEL: 'cheap',
      SUMMARY_TIMEOUT_MS: '300',
      BUDGET_MAX_TOKENS: '100000000',
    },
    [look],
  );
  test.provider.onRequest((request) => (isSummary(request) ? answerSummary() : undefined));
});
afterEach(() => {
  answerSummary = () => script.reply('They spoke of ships.');
  expect(test.provider.violations).toEqual([]);
});
afterAll(() => test.close());

const rounds = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => [
    { role: 'USER' as const, content: `request ${from + at}: ${prose(90, from + at + 1)}` },
    { role: 'ASSISTANT' as const, content: prose(90, from + at + 500) },
  ]).flat();

async function longSession(count = 70) {
  const sessionId = await test.createSession();
  await test.chat.service.seedHistory(test.caller, sessionId, rounds(count));
  return sessionId;
}

async function send(sessionId: string, message: string) {
  const { turnId } = await test.chat.service.send(test.caller, { sessionId, message });
  const [turn] = await test.rows('SELECT context_report FROM turns WHERE id = $1', turnId);
  return { turnId, report: turn.context_report as ContextReport, texts: textsOf(test.provider.requests.at(-1)) };
}

const textsOf = (request: RecordedRequest | undefined) =>
  request?.body.messages.map(({ content }) => String(content)) ?? [];
const stored = (sessionId: string) => test.rows('SELECT * FROM context_summaries WHERE session_id = $1', sessionId);

describe('a conversation that outgrows its window', () => {
  it('is summarised once, and the summary is told in the next turns', async () => {
    const sessionId = await longSession();
    const before = summaries().length;
    const { report, texts, turnId } = await send(sessionId, 'where were we?');
    expect(summaries()).toHaveLength(before + 1);
    expect(texts[1]).toMatch(/^request 0:/);
    expect(texts[2]).toContain('They spoke of ships.');
    expect(report).toMatchObject({ strategy: 'SUMMARY', windowTokens: 8192, messagesTotal: 141 });
    expect(report.messagesKept + report.messagesCompressed + report.messagesDropped).toBe(141);
    expect(report.tokensSaved).toBeGreaterThan(7_000);
    const [row] = await stored(sessionId);
    expect(row).toMatchObject({ content: 'They spoke of ships.', from_sequence: 2, attempted_turn: 1 });
    // The first request is told by itself, and what is behind the summary as it was written.
    expect(row.message_count).toBe(row.through_sequence - 1);
    expect(texts[3]).toMatch(new RegExp(`^request ${row.through_sequence / 2}:`));
    const trace = await test.rows('SELECT type, data FROM trace_events WHERE turn_id = $1 ORDER BY sequence', turnId);
    expect(trace.map(({ type, data }) => `${type}${data.purpose ? ` ${data.purpose}` : ''}`)).toEqual([
      'TURN_STARTED',
      'MODEL_CALL SUMMARY',
      'CONTEXT_DECISION',
      'MODEL_CALL',
      'ASSESSMENT',
      'TURN_FINISHED',
    ]);
    expect(trace[2].data.decisions.slice(0, 2)).toEqual([
      { from: 1, to: 1, messages: 1, decision: 'kept', level: 0, why: 'first request' },
      {
        from: 2,
        to: row.through_sequence,
        messages: row.message_count,
        decision: 'compressed',
        level: null,
        why: 'summary',
      },
    ]);
    expect(JSON.stringify(trace)).not.toContain('ledger');
    for (const message of ['two', 'three', 'four', 'five'])
      expect((await send(sessionId, message)).texts[2]).toContain('ships');
    expect(summaries()).toHaveLength(before + 1);
  });

  it('has its summary extended and not made anew', async () => {
    const sessionId = await longSession();
    await send(sessionId, 'one');
    const [first] = await stored(sessionId);
    for (const message of ['two', 'three', 'four']) await send(sessionId, message);
    await test.chat.service.seedHistory(test.caller, sessionId, rounds(50, 100));
    answerSummary = () => script.reply('Ships, then ferries.');
    expect((await send(sessionId, 'five')).texts[2]).toContain('Ships, then ferries.');
    const [second] = await stored(sessionId);
    expect(second.from_sequence).toBe(first.from_sequence);
    expect(second.through_sequence).toBeGreaterThan(first.through_sequence);
    const asked = textsOf(summaries().at(-1)).join('\n');
    expect(asked).toContain('They spoke of ships.');
    expect(asked).not.toContain('request 1:');
  });

  it('asks the model of the session when no other is configured, and books that to the turn', async () => {
    const other = test.another({ settings: { ...settings(), summaryModel: 'not there' } });
    const sessionId = await longSession();
    const before = test.provider.requests.length;
    const { turnId } = await other.service.send(test.caller, { sessionId, message: 'go on' });
    expect(test.provider.requests.slice(before).map(({ body }) => body.model)).toEqual(['scripted', 'scripted']);
    const [sums] = await test.rows(
      `SELECT t.cost_usd = (SELECT sum(cost_usd) FROM model_calls c WHERE c.turn_id = t.id) AS cost,
              t.input_tokens = (SELECT sum(input_tokens) FROM model_calls c WHERE c.turn_id = t.id) AS tokens
       FROM turns t WHERE id = $1`,
      turnId,
    );
    expect(sums).toEqual({ cost: true, tokens: true });
  });

  it('is not summarised where the client limits its history', async () => {
    const sessionId = await longSession();
    await test.chat.service.updateSession(test.caller, { id: sessionId, maxHistory: 120 });
    const before = summaries().length;
    expect(['FIDELITY', 'AGGRESSIVE']).toContain((await send(sessionId, 'one')).report.strategy);
    expect(summaries()).toHaveLength(before);
  });
});

const settings = () => ({ ...loadConfig({ SUMMARY_TIMEOUT_MS: '300' }).chat, maxRetries: 0 });

describe('a summary whose messages leave the history', () => {
  it('is gone with them', async () => {
    const sessionId = await longSession();
    await send(sessionId, 'one');
    expect(await stored(sessionId)).toHaveLength(1);
    await test.chat.service.updateSession(test.caller, { id: sessionId, maxHistory: 100 });
    const { texts } = await send(sessionId, 'two');
    expect(texts[2]).toContain('ships');
    expect(await stored(sessionId)).toEqual([]);
    expect((await send(sessionId, 'three')).texts.join('\n')).not.toContain('They spoke');
  });

  it('stays when only what is behind it is dropped', async () => {
    const sessionId = await longSession();
    await send(sessionId, 'one');
    const before = await stored(sessionId);
    await test.chat.service.regenerate(test.caller, { sessionId });
    expect(await stored(sessionId)).toEqual(before);
    expect(textsOf(test.provider.requests.at(-1))[2]).toContain('ships');
  });
});

describe('a summary that fails', () => {
  it.each([
    ['errs', () => [script.httpError(500)], 'FAILED', 'PROVIDER_UNAVAILABLE'],
    ['hangs', () => [script.silence()], 'FAILED', 'PROVIDER_TIMEOUT'],
    ['hangs in the middle', () => [script.text('half a su'), script.silence()], 'FAILED', 'PROVIDER_TIMEOUT'],
    ['is blank', () => script.reply(' \n'), 'SUCCEEDED', null],
    ['is filtered', () => [script.text('no'), script.finish('content_filter')], 'SUCCEEDED', null],
  ] as const)(
    'because its model %s is done without, and not tried again at each step and turn',
    async (_what, answer, status, code) => {
      const sessionId = await longSession();
      answerSummary = answer;
      const before = summaries().length;
      test.provider.onRequest((request) => {
        if (isSummary(request)) return answerSummary();
        const isFirst = request.body.messages.at(-1)?.role === 'user';
        return isFirst ? script.callTools([{ id: `c${request.index}`, name: 'look', arguments: {} }]) : undefined;
      });
      const { report, texts } = await send(sessionId, 'one');
      expect(['FIDELITY', 'AGGRESSIVE']).toContain(report.strategy);
      expect(texts[1]).toMatch(/^request 0:/);
      for (const message of ['two', 'three', 'four']) await send(sessionId, message);
      expect(summaries()).toHaveLength(before + 1);
      expect(
        await test.rows(
          `SELECT status, error_code FROM model_calls WHERE session_id = $1 AND purpose = 'SUMMARY'`,
          sessionId,
        ),
      ).toEqual([{ status, error_code: code }]);
      answerSummary = () => script.reply('Better now.');
      expect((await send(sessionId, 'five')).texts[2]).toContain('Better now.');
      expect(
        await test.rows(
          `SELECT s.total_cost_usd = (SELECT sum(cost_usd) FROM model_calls c WHERE c.session_id = s.id) AS agree,
                (SELECT count(*)::int FROM model_calls c WHERE c.session_id = s.id AND c.status = 'PENDING') AS open
         FROM chat_sessions s WHERE id = $1`,
          sessionId,
        ),
      ).toEqual([{ agree: true, open: 0 }]);
    },
  );

  it('because its turn is stopped meanwhile ends with it', async () => {
    const sessionId = await longSession();
    const gate = script.gate();
    answerSummary = () => [script.pause(gate)];
    const stopper = test.another({ settings: { ...settings(), summaryModel: 'cheap', summaryTimeoutMs: 60_000 } });
    const sending = stopper.service.send(test.caller, { sessionId, message: 'one' });
    await gate.reached;
    await stopper.service.stop(test.caller, sessionId);
    const { turnId } = await sending;
    expect(await test.rows('SELECT status FROM turns WHERE id = $1', turnId)).toEqual([{ status: 'STOPPED' }]);
    expect(await test.rows('SELECT purpose, status FROM model_calls WHERE turn_id = $1', turnId)).toEqual([
      { purpose: 'SUMMARY', status: 'ABORTED' },
    ]);
  });
});
