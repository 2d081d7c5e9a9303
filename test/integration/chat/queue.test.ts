import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Chat } from '../../../src/chat/chat.js';
import { encodeCursor } from '../../../src/events/cursor.js';
import type { FailpointName } from '../../../src/failpoints.js';
import { codeOf, readAll, startTestChat, type TestChat } from '../../support/chat.js';
import * as script from '../../support/script.js';
import { statementsOf } from '../../support/statements.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({ MAX_QUEUED_TURNS: '3' });
  await test.chat.start();
});
afterAll(() => test.close());

const ENQUEUE = { whenBusy: 'ENQUEUE' } as const;

/** A turn that writes "working" and then waits for its gate. */
async function startHeldTurn(sessionId: string, usage = { prompt: 1, completion: 1 }) {
  const gate = script.gate();
  test.provider.enqueue([script.text('working'), script.pause(gate), script.finish('stop'), script.usage(usage)]);
  const sending = test.chat.service.send(test.caller, { sessionId, message: 'long' });
  await gate.reached;
  return { sending, open: gate.open };
}

const turnsOf = (sessionId: string) =>
  test.rows('SELECT id, number, status, finish_reason FROM turns WHERE session_id = $1 ORDER BY number', sessionId);
const statusesOf = async (sessionId: string) => (await turnsOf(sessionId)).map(({ status }) => status);
const untilQueued = (sessionId: string, count: number) =>
  vi.waitUntil(async () => (await statusesOf(sessionId)).filter((status) => status === 'QUEUED').length === count);
const countersOf = async (sessionId: string) =>
  (
    await test.rows(
      'SELECT turn_count, queued_turns, message_count, active_turn_id FROM chat_sessions WHERE id = $1',
      sessionId,
    )
  )[0];
const historyOf = async (sessionId: string) =>
  (
    await test.rows(
      'SELECT content FROM messages WHERE session_id = $1 AND trimmed_at IS NULL ORDER BY sequence',
      sessionId,
    )
  ).map(({ content }) => content);

describe('a turn that is queued', () => {
  it('waits outside of the history, then runs with all that was said before it, and its events go on where the last turn ended', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const streamed = await test.chat.service.stream(test.caller, { sessionId, message: 'next 🙂', ...ENQUEUE });
    expect(await statusesOf(sessionId)).toEqual(['RUNNING', 'QUEUED']);
    expect(await countersOf(sessionId)).toMatchObject({ turn_count: 2, queued_turns: 1, message_count: 1 });
    expect(await historyOf(sessionId)).toEqual(['long']);
    held.open();
    const first = await held.sending;
    const events = await readAll(streamed);
    const kinds = events.map(({ type }) => type).join(' ');
    expect(kinds).toBe('TurnStarted ContextReported TextDelta StepCompleted TurnCompleted');
    const before = await readAll(await test.chat.service.turnEvents(test.caller, first.turnId));
    expect(events[0]?.sequence).toBe((before.at(-1)?.sequence ?? 0) + 1);
    expect(await historyOf(sessionId)).toEqual(['long', 'working', 'next 🙂', 'echo: next 🙂']);
    expect(test.provider.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    expect(await countersOf(sessionId)).toEqual({
      turn_count: 2,
      queued_turns: 0,
      message_count: 4,
      active_turn_id: null,
    });
    expect(await test.rows('SELECT sequence FROM messages WHERE session_id = $1 ORDER BY sequence', sessionId)).toEqual(
      [1, 2, 3, 4].map((sequence) => ({ sequence })),
    );
    expect(
      await test.rows(
        "SELECT data FROM trace_events WHERE session_id = $1 AND type = 'TURN_STARTED' ORDER BY sequence DESC LIMIT 1",
        sessionId,
      ),
    ).toEqual([{ data: { messageDigest: expect.stringMatching(/^[0-9a-f]{16}$/), messageLength: 7, images: 0 } }]);
    expect(await readAll(await test.chat.service.turnEvents(test.caller, events[0]?.turnId ?? ''))).toEqual(events);
    expect(test.provider.violations).toEqual([]);
  });

  it('runs at once when the session is free, with as many statements as any', async () => {
    const sessionId = await test.createSession();
    const statements = await statementsOf(test.database.pool, () =>
      test.chat.service.send(test.caller, { sessionId, message: 'count me', ...ENQUEUE }),
    );
    expect(statements).toEqual(['accept-turn', 'load-history', 'open-model-call', 'settle-turn']);
  });

  it('is one of so many: more are refused, and what is not queued is refused while it waits', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const { service } = test.chat;
    const sends = ['a', 'b', 'c'].map((message) => service.send(test.caller, { sessionId, message, ...ENQUEUE }));
    await untilQueued(sessionId, 3);
    const refused = service.send(test.caller, { sessionId, message: 'd', ...ENQUEUE });
    await expect(refused).rejects.toMatchObject({
      code: 'TURN_IN_PROGRESS',
      details: { queuedTurns: 3, limit: 3 },
      message: expect.stringContaining('full'),
    });
    expect(await codeOf(service.send(test.caller, { sessionId, message: 'e' }))).toBe('TURN_IN_PROGRESS');
    expect(await codeOf(service.seedHistory(test.caller, sessionId, [{ role: 'USER', content: 'x' }]))).toBe(
      'TURN_IN_PROGRESS',
    );
    expect(await countersOf(sessionId)).toMatchObject({ turn_count: 4, queued_turns: 3 });
    held.open();
    await Promise.all([held.sending, ...sends]);
    expect(await statusesOf(sessionId)).toEqual(Array.from({ length: 4 }, () => 'COMPLETED'));
  });

  it('is found again by its key, whether it waits, runs or has ended', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const { service } = test.chat;
    const input = { sessionId, message: 'once', clientMessageId: 'once', ...ENQUEUE };
    const sends = [service.send(test.caller, input), service.send(test.caller, input)];
    await untilQueued(sessionId, 1);
    sends.push(service.send(test.caller, { ...input, whenBusy: 'INTERRUPT' }));
    expect(await codeOf(service.send(test.caller, { ...input, message: 'other' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    held.open();
    await held.sending;
    sends.push(service.send(test.caller, input));
    const ids = (await Promise.all(sends)).map(({ turnId }) => turnId);
    expect(new Set(ids).size).toBe(1);
    expect(await statusesOf(sessionId)).toEqual(['COMPLETED', 'COMPLETED']);
  });

  it('fails without a model call when the budget was used up before its turn, and the next one is looked at', async () => {
    const sessionId = await test.createSession({ budget: { maxTokens: 400 } });
    const held = await startHeldTurn(sessionId, { prompt: 300, completion: 100 });
    const { service } = test.chat;
    const requests = test.provider.requests.length;
    const streams = await Promise.all(
      ['a', 'b'].map((message) => service.stream(test.caller, { sessionId, message, ...ENQUEUE })),
    );
    held.open();
    await held.sending;
    for (const events of await Promise.all(streams.map(readAll))) {
      expect(events.map(({ type }) => type)).toEqual(['TurnStarted', 'TurnFailed']);
      expect(events[1]).toMatchObject({ code: 'BUDGET_EXCEEDED', retryable: false });
    }
    expect(test.provider.requests.length).toBe(requests);
    expect(await codeOf(service.send(test.caller, { sessionId, message: 'c', ...ENQUEUE }))).toBe('BUDGET_EXCEEDED');
    expect(await countersOf(sessionId)).toMatchObject({ queued_turns: 0, active_turn_id: null });
  });

  it('is stopped when the session is closed, while the running one comes to its end', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const { service } = test.chat;
    const queued = await service.stream(test.caller, { sessionId, message: 'too late', ...ENQUEUE });
    await service.closeSession(test.caller, sessionId);
    expect((await readAll(queued)).map(({ type }) => type)).toEqual(['TurnStarted', 'TurnStopped']);
    held.open();
    await held.sending;
    expect(await statusesOf(sessionId)).toEqual(['COMPLETED', 'STOPPED']);
    expect(await codeOf(service.send(test.caller, { sessionId, message: 'x', ...ENQUEUE }))).toBe('SESSION_CLOSED');
  });

  it('ends with its session when that is deleted', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const { service } = test.chat;
    const queued = await service.stream(test.caller, { sessionId, message: 'gone', ...ENQUEUE });
    await service.deleteSession(test.caller, sessionId);
    await held.sending.catch(() => {});
    await readAll(queued);
    expect(await turnsOf(sessionId)).toEqual([]);
    expect(await test.rows("SELECT 1 FROM model_calls WHERE session_id IS NULL AND status = 'PENDING'")).toEqual([]);
  });
});

describe('a queue whose process is lost', () => {
  const startFirst = async (owner: Chat, sessionId: string) => {
    const gate = script.gate();
    test.provider.enqueue([script.pause(gate), script.reply('first')]);
    const sending = owner.service.send(test.caller, { sessionId, message: 'first' });
    await gate.reached;
    return { sending, open: gate.open };
  };
  const crashAt = (place: FailpointName) =>
    test.another({
      failpoint: (name) => {
        if (name === place) throw new Error('died here');
      },
    });
  const ownersOf = (sessionId: string) =>
    test.rows('SELECT status, lease_epoch, attempts FROM turns WHERE session_id = $1 AND number = 2', sessionId);

  it('between the end of a turn and the start of the next is carried on by another process', async () => {
    const sessionId = await test.createSession();
    const first = await startFirst(crashAt('after-settle-before-tell'), sessionId);
    const second = await test.chat.service.stream(test.caller, { sessionId, message: 'second', ...ENQUEUE });
    first.open();
    expect((await readAll(second)).at(-1)?.type).toBe('TurnCompleted');
    await first.sending;
    expect(await ownersOf(sessionId)).toEqual([{ status: 'COMPLETED', lease_epoch: 1, attempts: 1 }]);
  });

  it('right after the start of the next is carried on like any turn', async () => {
    const sessionId = await test.createSession();
    const first = await startFirst(crashAt('after-promote'), sessionId);
    const lost = await test.chat.service.stream(test.caller, { sessionId, message: 'second', ...ENQUEUE });
    first.open();
    await first.sending;
    await vi.waitUntil(async () => (await ownersOf(sessionId))[0].status === 'RUNNING');
    await test.rows(
      "UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1 AND status = 'RUNNING'",
      sessionId,
    );
    expect((await readAll(lost)).at(-1)?.type).toBe('TurnCompleted');
    expect(await ownersOf(sessionId)).toEqual([{ status: 'COMPLETED', lease_epoch: 2, attempts: 2 }]);
  });

  it('in good order starts nothing more and leaves it to another process', async () => {
    const sessionId = await test.createSession();
    const leaving = test.another();
    const first = await startFirst(leaving, sessionId);
    const second = await test.chat.service.stream(test.caller, { sessionId, message: 'second', ...ENQUEUE });
    const closing = leaving.close(10_000);
    first.open();
    await Promise.all([first.sending, closing]);
    expect((await readAll(second)).at(-1)?.type).toBe('TurnCompleted');
  });
});

describe('interrupting', () => {
  it('stops what runs and what waits, keeps what had come, and then runs', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const { service } = test.chat;
    const request = test.provider.requests.at(-1);
    const waiting = service.send(test.caller, { sessionId, message: 'waits', ...ENQUEUE });
    await untilQueued(sessionId, 1);
    const { turnId } = await service.send(test.caller, { sessionId, message: 'now', whenBusy: 'INTERRUPT' });
    await request?.hungUp;
    expect(await turnsOf(sessionId)).toMatchObject([
      { status: 'STOPPED', finish_reason: 'STOPPED' },
      { status: 'STOPPED', finish_reason: 'STOPPED' },
      { id: turnId, status: 'COMPLETED' },
    ]);
    await Promise.all([held.sending, waiting]);
    expect(await historyOf(sessionId)).toEqual(['long', 'working', 'now', 'echo: now']);
    expect(
      await test.rows("SELECT status FROM messages WHERE session_id = $1 AND content = 'working'", sessionId),
    ).toEqual([{ status: 'PARTIAL' }]);
    expect(test.provider.violations).toEqual([]);
  });

  it('does not stop anything for a message that is refused anyway', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const { service } = test.chat;
    await service.updateSession(test.caller, { id: sessionId, budget: { maxTokens: 0 } });
    const refused = service.send(test.caller, { sessionId, message: 'now', whenBusy: 'INTERRUPT' });
    expect(await codeOf(refused)).toBe('BUDGET_EXCEEDED');
    held.open();
    await held.sending;
    expect(await statusesOf(sessionId)).toEqual(['COMPLETED']);
  });

  it('by many at once ends well for every one of them', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const other = test.another();
    await other.start();
    const sends = Array.from({ length: 8 }, (_, at) =>
      (at % 2 ? other : test.chat).service.send(test.caller, { sessionId, message: `${at}`, whenBusy: 'INTERRUPT' }),
    );
    await Promise.all([...sends, held.sending]);
    const turns = await turnsOf(sessionId);
    expect(turns).toHaveLength(9);
    for (const { status } of turns) expect(['COMPLETED', 'STOPPED']).toContain(status);
    expect(turns.at(-1).status).toBe('COMPLETED');
    expect(test.provider.violations).toEqual([]);
  });
});

describe('stop', () => {
  it('ends one turn of the queue, or all, and tells what it did', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    expect(await service.stop(test.caller, sessionId)).toBeNull();
    const held = await startHeldTurn(sessionId);
    const streams = [];
    for (const message of ['a', 'b', 'c']) {
      streams.push(await service.stream(test.caller, { sessionId, message, ...ENQUEUE }));
    }
    const [active, a, b, c] = (await turnsOf(sessionId)).map(({ id }) => id);
    expect(await service.stop(test.caller, sessionId, b)).toEqual({ turnId: b });
    expect(await service.stop(test.caller, sessionId, b)).toBeNull();
    expect(await statusesOf(sessionId)).toEqual(['RUNNING', 'QUEUED', 'STOPPED', 'QUEUED']);
    expect(await countersOf(sessionId)).toMatchObject({ queued_turns: 2 });
    const other = await test.createSession();
    expect(await codeOf(service.stop(test.caller, other, a))).toBe('NOT_FOUND');
    expect(await codeOf(service.stop({ owner: 'eve', tenant: '' }, sessionId, a))).toBe('NOT_FOUND');
    expect(await codeOf(service.stop({ owner: 'eve', tenant: '' }, sessionId))).toBe('NOT_FOUND');
    expect(await statusesOf(sessionId)).toEqual(['RUNNING', 'QUEUED', 'STOPPED', 'QUEUED']);
    expect(await service.stop(test.caller, sessionId)).toEqual({ turnId: active });
    expect(await statusesOf(sessionId)).toEqual(Array.from({ length: 4 }, () => 'STOPPED'));
    const told = await Promise.all(streams.map(readAll));
    for (const events of told) expect(events.map(({ type }) => type)).toEqual(['TurnStarted', 'TurnStopped']);
    expect(await service.stop(test.caller, sessionId, c)).toBeNull();
    // What was told stays as it was told.
    const events = async (id: unknown) => readAll(await service.turnEvents(test.caller, String(id)));
    expect(await Promise.all([a, b, c].map(events))).toEqual(told);
    expect((await events(active)).at(-1)).toMatchObject({ type: 'TurnStopped' });
    // Nor is the cursor of such a turn taken for a place behind what still runs.
    const last = told[2]?.at(-1);
    if (!last) throw new Error('nothing was told');
    const rest = await service.turnEvents(test.caller, last.turnId, encodeCursor(last, last.sequence));
    expect(await readAll(rest)).toEqual([]);
    await held.sending;
    expect(await historyOf(sessionId)).toEqual(['long', 'working']);
    expect(await countersOf(sessionId)).toEqual({
      turn_count: 4,
      queued_turns: 0,
      message_count: 2,
      active_turn_id: null,
    });
    await service.send(test.caller, { sessionId, message: 'after' });
    expect(test.provider.violations).toEqual([]);
  });

  it('of the active turn alone lets the queue go on', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const { service } = test.chat;
    const waiting = service.send(test.caller, { sessionId, message: 'mine', ...ENQUEUE });
    await untilQueued(sessionId, 1);
    const [active] = await turnsOf(sessionId);
    expect(await service.stop(test.caller, sessionId, active.id)).toEqual({ turnId: active.id });
    await Promise.all([waiting, held.sending]);
    expect(await statusesOf(sessionId)).toEqual(['STOPPED', 'COMPLETED']);
  });

  it('is one thing however often and from wherever it is called', async () => {
    const sessionId = await test.createSession();
    const held = await startHeldTurn(sessionId);
    const other = test.another();
    await other.start();
    const [active] = await turnsOf(sessionId);
    const asked = performance.now();
    const stops = await Promise.all([
      other.service.stop(test.caller, sessionId),
      other.service.stop(test.caller, sessionId, active.id),
    ]);
    expect(performance.now() - asked).toBeLessThan(1_500);
    expect(stops).toEqual([{ turnId: active.id }, { turnId: active.id }]);
    await held.sending;
    expect(await other.service.stop(test.caller, sessionId)).toBeNull();
  });

  it('names a turn that came to its own end in that moment, with how it ended', async () => {
    const sessionId = await test.createSession();
    // Its owner never looks for wishes, so the turn is done before anybody obeys.
    const deaf = test.another();
    const gate = script.gate();
    test.provider.enqueue([script.pause(gate), script.reply('done')]);
    const sending = deaf.service.send(test.caller, { sessionId, message: 'quick' });
    await gate.reached;
    const stopping = test.chat.service.stop(test.caller, sessionId);
    await vi.waitUntil(
      async () =>
        (await test.rows('SELECT stop_requested_at FROM turns WHERE session_id = $1', sessionId))[0].stop_requested_at,
    );
    gate.open();
    const { turnId } = await sending;
    expect(await stopping).toEqual({ turnId });
    expect(await statusesOf(sessionId)).toEqual(['COMPLETED']);
  });
});
