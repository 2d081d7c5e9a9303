import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeCursor } from '../../../src/events/cursor.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { codeOf, readAll, startTestChat, type TestChat } from '../../support/chat.js';
import * as script from '../../support/script.js';
import { statementsOf } from '../../support/statements.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
});
afterAll(() => test.close());

describe('a turn in the database', () => {
  it('leaves message, reply, ledger, sums and trace that agree', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    test.provider.enqueue(
      script.reply('Hello, Ada.', { usage: { prompt: 2006, cached: 1920, completion: 300, reasoning: 261 } }),
    );
    const { turnId } = await service.send(test.caller, { sessionId, message: 'hello' });
    expect(
      await test.rows(
        'SELECT role, status, content, sequence FROM messages WHERE session_id = $1 ORDER BY sequence',
        sessionId,
      ),
    ).toEqual([
      { role: 'USER', status: 'COMPLETE', content: 'hello', sequence: 1 },
      { role: 'ASSISTANT', status: 'COMPLETE', content: 'Hello, Ada.', sequence: 2 },
    ]);
    const sums = {
      input_tokens: '2006',
      cached_input_tokens: '1920',
      output_tokens: '300',
      reasoning_tokens: '261',
      usage_estimated: false,
    };
    expect(await test.rows('SELECT *, cost_usd::text AS cost FROM turns WHERE id = $1', turnId)).toMatchObject([
      { ...sums, cost: '0.005615000000', status: 'COMPLETED', finish_reason: 'STOP', lease_owner: null },
    ]);
    expect(
      await test.rows('SELECT *, cost_usd::text AS cost FROM model_calls WHERE turn_id = $1', turnId),
    ).toMatchObject([{ ...sums, cost: '0.005615000000', status: 'SUCCEEDED', owner: 'ada', step: 1, attempt: 1 }]);
    expect(
      await test.rows('SELECT *, total_cost_usd::text AS cost FROM chat_sessions WHERE id = $1', sessionId),
    ).toMatchObject([
      {
        ...sums,
        cost: '0.005615000000',
        active_turn_id: null,
        turn_count: 1,
        message_count: 2,
        last_message_sequence: 2,
      },
    ]);
    expect(
      await test.rows(
        'SELECT spent_cost_usd::text, spent_tokens FROM budgets b JOIN chat_sessions s ON s.budget_id = b.id WHERE s.id = $1',
        sessionId,
      ),
    ).toEqual([{ spent_cost_usd: '0.005615000000', spent_tokens: '2306' }]);
    expect(
      await test.rows('SELECT sequence, type FROM trace_events WHERE session_id = $1 ORDER BY sequence', sessionId),
    ).toEqual([
      { sequence: 1, type: 'TURN_STARTED' },
      { sequence: 2, type: 'MODEL_CALL' },
      { sequence: 3, type: 'ASSESSMENT' },
      { sequence: 4, type: 'TURN_FINISHED' },
    ]);
  });

  it('takes four statements when it is plain', async () => {
    const sessionId = await test.createSession();
    const statements = await statementsOf(test.database.pool, () =>
      test.chat.service.send(test.caller, { sessionId, message: 'count me' }),
    );
    expect(statements).toEqual(['accept-turn', 'load-history', 'open-model-call', 'settle-turn']);
  });

  it('replays from storage what it told live', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    test.provider.enqueue([
      script.thinking('Hm. '),
      script.text('one two three', { chunks: 4 }),
      script.finish('stop'),
      script.usage({ prompt: 5, completion: 5 }),
    ]);
    const live = await readAll(await service.stream(test.caller, { sessionId, message: 'count' }));
    const turnId = live[0]?.turnId ?? '';
    const stored = await readAll(await service.turnEvents(test.caller, turnId));
    const tell = (events: TurnEvent[]) =>
      events
        .map((event) => ('delta' in event ? event.delta : event.type))
        .join('|')
        .replaceAll('|', '');
    expect(tell(stored)).toBe('TurnStartedContextReportedHm. one two threeStepCompletedTurnCompleted');
    expect(tell(live)).toBe(tell(stored));
    const end = live.at(-1)?.sequence ?? 0;
    expect(end).toBe(stored.at(-1)?.sequence);
    const cursorAt = (sequence: number) => encodeCursor({ turnNumber: 1, turnId }, sequence);
    expect(await readAll(await service.turnEvents(test.caller, turnId, cursorAt(end)))).toEqual([]);
    const lastWord = await readAll(await service.turnEvents(test.caller, turnId, cursorAt(end - 1)));
    expect(lastWord.map(({ type }) => type)).toEqual(['TurnCompleted']);
    const future = cursorAt(1_000_000);
    expect(await readAll(await service.turnEvents(test.caller, turnId, future))).toEqual(stored);
  });

  it('keeps what was streamed of a reply that is stopped, books an estimate, and stores no empty reply', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    const gate = script.gate();
    test.provider.enqueue([script.text('partial words'), script.pause(gate), script.text(' never seen')]);
    const events = await service.stream(test.caller, { sessionId, message: 'go on' });
    await gate.reached;
    for await (const event of events) if (event.type === 'TextDelta') break;
    const stopped = await service.stop(test.caller, sessionId);
    expect(
      await test.rows(
        'SELECT status, content FROM messages WHERE session_id = $1 AND role = $2',
        sessionId,
        'ASSISTANT',
      ),
    ).toEqual([{ status: 'PARTIAL', content: 'partial words' }]);
    expect(
      await test.rows(
        'SELECT status, usage_estimated, output_tokens > 0 AS output, input_tokens > 0 AS input FROM model_calls WHERE turn_id = $1',
        stopped?.turnId,
      ),
    ).toEqual([{ status: 'ABORTED', usage_estimated: true, output: true, input: true }]);
    expect(await service.stop(test.caller, sessionId)).toBeNull();

    const silent = test.provider.requests.length;
    test.provider.enqueue([script.silence()]);
    const sending = service.send(test.caller, { sessionId, message: 'and again' });
    await test.provider.request(silent);
    await service.stop(test.caller, sessionId);
    await sending;
    expect(await test.rows('SELECT content FROM messages WHERE session_id = $1 ORDER BY sequence', sessionId)).toEqual([
      { content: 'go on' },
      { content: 'partial words' },
      { content: 'and again' },
    ]);
    expect(test.provider.violations).toEqual([]);
  });

  it('refuses a second turn, then finds the same one again by its key', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    const gate = script.gate();
    test.provider.enqueue([
      script.pause(gate),
      script.text('slow'),
      script.finish('stop'),
      script.usage({ prompt: 1, completion: 1 }),
    ]);
    const input = { sessionId, message: 'slow one', clientMessageId: 'a' };
    const first = service.send(test.caller, input);
    await gate.reached;
    expect(await codeOf(service.send(test.caller, { sessionId, message: 'other' }))).toBe('TURN_IN_PROGRESS');
    expect(await codeOf(service.send(test.caller, { ...input, message: 'slow one!' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await codeOf(service.seedHistory(test.caller, sessionId, [{ role: 'USER', content: 'x' }]))).toBe(
      'TURN_IN_PROGRESS',
    );
    const second = service.send(test.caller, input);
    gate.open();
    expect(await second).toEqual(await first);
    expect((await service.send(test.caller, input)).turnId).toBe((await first).turnId);
  });

  it('trims by whole groups and keeps the record of its turns', async () => {
    const sessionId = await test.createSession({ maxHistory: 3 });
    const { service } = test.chat;
    await service.seedHistory(test.caller, sessionId, [
      { role: 'USER', content: 'weather?' },
      { role: 'ASSISTANT', content: '', toolCalls: [{ id: 'c1', name: 'weather', arguments: {} }] },
      { role: 'TOOL', content: '12', toolCallId: 'c1' },
      { role: 'ASSISTANT', content: 'It is 12.' },
    ]);
    const retained = () =>
      test.rows(
        'SELECT content FROM messages WHERE session_id = $1 AND trimmed_at IS NULL ORDER BY sequence',
        sessionId,
      );
    expect((await retained()).map((row) => row.content)).toEqual(['', '12', 'It is 12.']);
    await service.send(test.caller, { sessionId, message: 'thanks' });
    expect((await retained()).map((row) => row.content)).toEqual(['It is 12.', 'thanks', 'echo: thanks']);
    expect(await test.rows('SELECT message_count FROM chat_sessions WHERE id = $1', sessionId)).toEqual([
      { message_count: 3 },
    ]);
    expect(test.provider.violations).toEqual([]);
  });

  it('deletes a session with everything but its ledger', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    const { turnId } = await service.send(test.caller, {
      sessionId,
      message: 'bye',
      images: ['https://example.com/a.png'],
    });
    await service.deleteSession(test.caller, sessionId);
    expect(await test.rows('SELECT 1 FROM messages WHERE session_id = $1', sessionId)).toEqual([]);
    expect(
      await test.rows('SELECT session_id, turn_id, owner, status FROM model_calls WHERE session_id IS NULL'),
    ).toEqual([{ session_id: null, turn_id: null, owner: 'ada', status: 'SUCCEEDED' }]);
    expect(await codeOf(service.turnEvents(test.caller, turnId))).toBe('NOT_FOUND');
    expect(
      await test.rows(
        'SELECT count(*)::int AS n FROM budgets b WHERE NOT EXISTS (SELECT FROM chat_sessions s WHERE s.budget_id = b.id)',
      ),
    ).toEqual([{ n: 0 }]);
  });

  it('tells a blank reply again as it was told, though no message is kept of it', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    test.provider.enqueue([script.text(' \n '), script.finish('stop'), script.usage({ prompt: 1, completion: 1 })]);
    const live = await readAll(await service.stream(test.caller, { sessionId, message: 'say nothing' }));
    const stored = await readAll(await service.turnEvents(test.caller, live[0]?.turnId ?? ''));
    expect(stored).toEqual(live);
  });
});
