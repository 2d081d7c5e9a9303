import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { codeOf, readAll, startTestChat, type TestChat } from '../../support/chat.js';
import { deferred } from '../../support/deferred.js';
import * as script from '../../support/script.js';

let test: TestChat;
beforeAll(async () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({}),
    sideEffect: 'read',
    run: () => 'seen',
  });
  test = await startTestChat({}, [look]);
  await test.chat.start();
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const ask = (question: string, choices?: readonly string[], id = 'q1') => ({
  id,
  name: 'ask_user',
  arguments: { question, ...(choices && { choices }) },
});
const tell = (events: readonly TurnEvent[]) => events.map((event) => ('delta' in event ? event.delta : event.type));
const requestsOf = (sessionId: string) =>
  test.rows('SELECT * FROM input_requests WHERE session_id = $1 ORDER BY created_at, id', sessionId);
const turnsOf = (sessionId: string) =>
  test.rows('SELECT * FROM turns WHERE session_id = $1 ORDER BY number', sessionId);

/** A turn that waits with one question. */
async function startAsking(script_: script.Script = script.callTools([ask('Which city?', ['Rome', 'Oslo'])])) {
  const sessionId = await test.createSession();
  test.provider.enqueue(script_);
  const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'plan a trip' });
  const events = await test.chat.service.turnEvents(test.caller, turnId);
  const requests = await requestsOf(sessionId);
  return { sessionId, events, requestId: requests[0].id as string, requests };
}

describe('a turn whose model asks the user', () => {
  it('waits without an owner, and goes on with the answer', async () => {
    const { sessionId, events, requestId } = await startAsking();
    expect((await turnsOf(sessionId))[0]).toMatchObject({ lease_owner: null, lease_expires_at: null });
    expect(await requestsOf(sessionId)).toMatchObject([
      { status: 'PENDING', kind: 'QUESTION', question: 'Which city?', choices: ['Rome', 'Oslo'], answer: null },
    ]);
    const first = test.provider.requests.length;
    test.provider.enqueue(script.reply('Rome it is.'));
    const { turnId } = await test.chat.service.answerQuestion(test.caller, { requestId, answer: 'Rome, please' });
    const seen = await readAll(events);
    expect(tell(seen)).toEqual([
      'TurnStarted',
      'ContextReported',
      'StepCompleted',
      'ToolCallStarted',
      'InputRequested',
      'InputResolved',
      'ToolCallCompleted',
      'ContextReported',
      'Rome it is.',
      'StepCompleted',
      'TurnCompleted',
    ]);
    expect(await readAll(await test.chat.service.turnEvents(test.caller, turnId))).toEqual(seen);
    const { body } = await test.provider.request(first);
    expect(body.messages.at(-1)).toEqual({ role: 'tool', content: 'Rome, please', tool_call_id: 'q1' });
    expect(await requestsOf(sessionId)).toMatchObject([{ status: 'RESOLVED', answer: 'Rome, please' }]);
    const trace = await test.rows(
      'SELECT type, data FROM trace_events WHERE session_id = $1 ORDER BY sequence',
      sessionId,
    );
    expect(trace.map(({ type }) => type)).toEqual([
      'TURN_STARTED',
      'MODEL_CALL',
      'ASSESSMENT',
      'INPUT_REQUESTED',
      'INPUT_RESOLVED',
      'TOOL_CALL',
      'MODEL_CALL',
      'ASSESSMENT',
      'TURN_FINISHED',
    ]);
    expect(JSON.stringify(trace)).not.toContain('Rome');
  });

  it('answers send while it waits', async () => {
    const sessionId = await test.createSession();
    test.provider.enqueue(script.callTools([ask('Which city?')], { content: 'One thing first.' }));
    const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'plan' });
    expect(await test.rows('SELECT status FROM turns WHERE id = $1', turnId)).toEqual([{ status: 'AWAITING_INPUT' }]);
    await test.chat.service.stop(test.caller, sessionId);
  });

  it('runs the other calls of the step first, and asks several questions at once', async () => {
    const { sessionId, requests } = await startAsking(
      script.callTools([
        ask('From where?', undefined, 'q1'),
        { id: 't1', name: 'look', arguments: {} },
        ask('To where?', undefined, 'q2'),
      ]),
    );
    expect(requests.map(({ question }) => question)).toEqual(['From where?', 'To where?']);
    const first = test.provider.requests.length;
    const { service } = test.chat;
    await service.answerQuestion(test.caller, { requestId: requests[1].id, answer: 'Oslo' });
    expect((await turnsOf(sessionId))[0]?.status).toBe('AWAITING_INPUT');
    await service.answerQuestion(test.caller, { requestId: requests[0].id, answer: 'Rome' });
    const { body } = await test.provider.request(first);
    expect(body.messages.slice(-3)).toEqual([
      { role: 'tool', content: 'Rome', tool_call_id: 'q1' },
      { role: 'tool', content: 'seen', tool_call_id: 't1' },
      { role: 'tool', content: 'Oslo', tool_call_id: 'q2' },
    ]);
  });

  it('goes on when several questions are answered in the same instant', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { events, requests } = await startAsking(
        script.callTools([ask('One?', undefined, 'q1'), ask('Two?', undefined, 'q2'), ask('Three?', undefined, 'q3')]),
      );
      const services = [test.chat.service, test.another().service, test.another().service];
      await Promise.all(
        requests.map(({ id }, at) =>
          services[at]?.answerQuestion(test.caller, { requestId: id, answer: `answer ${at}` }),
        ),
      );
      expect(tell(await readAll(events)).at(-1)).toBe('TurnCompleted');
    }
  });

  it('takes an answer in another process', async () => {
    const { events, requestId } = await startAsking();
    test.provider.enqueue(script.reply('Thanks.'));
    await test.another().service.answerQuestion(test.caller, { requestId, answer: 'Oslo' });
    expect(tell(await readAll(events)).slice(-3)).toEqual(['Thanks.', 'StepCompleted', 'TurnCompleted']);
  });

  it('still waits after a restart', async () => {
    const mine = test.another();
    const sessionId = await test.createSession();
    test.provider.enqueue(script.callTools([ask('Which city?')]));
    await mine.service.send(test.caller, { sessionId, message: 'plan' });
    await mine.close(0);
    const next = test.another();
    await next.start();
    const [{ id: requestId }] = await requestsOf(sessionId);
    const first = test.provider.requests.length;
    await next.service.answerQuestion(test.caller, { requestId, answer: 'Lima' });
    const { body } = await test.provider.request(first);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Lima' });
  });

  it('takes up an answer whose process was lost before it went on', async () => {
    const { sessionId, events, requestId } = await startAsking();
    const broken = test.another({ newId: () => '00000000-0000-0000-0000-00000000000x' });
    // It takes the answer as a whole or not at all: this one cannot even write its trace.
    await expect(broken.service.answerQuestion(test.caller, { requestId, answer: 'lost' })).rejects.toThrow();
    expect((await requestsOf(sessionId))[0]).toMatchObject({ status: 'PENDING' });
    await test.rows(
      "UPDATE input_requests SET status = 'RESOLVED', answer = '\"Bern\"', resolved_at = now() WHERE id = $1",
      requestId,
    );
    const first = test.provider.requests.length;
    await test.rows(
      "UPDATE turns SET status = 'RUNNING', lease_epoch = lease_epoch + 1, lease_owner = 'dead', lease_expires_at = now() WHERE session_id = $1",
      sessionId,
    );
    const { body } = await test.provider.request(first);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Bern' });
    expect(tell(await readAll(events)).at(-1)).toBe('TurnCompleted');
  });

  it('goes on without an answer that does not come in time, and takes none afterwards', async () => {
    const { sessionId, events, requestId } = await startAsking();
    const first = test.provider.requests.length;
    await test.rows("UPDATE input_requests SET expires_at = now() - interval '1 second' WHERE id = $1", requestId);
    const { body } = await test.provider.request(first);
    expect(body.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('did not answer in time'),
    });
    expect(tell(await readAll(events))).toContain('InputResolved');
    expect(await requestsOf(sessionId)).toMatchObject([{ status: 'EXPIRED', answer: null }]);
    expect(await codeOf(test.chat.service.answerQuestion(test.caller, { requestId, answer: 'late' }))).toBe(
      'INPUT_EXPIRED',
    );
  });

  it('refuses an answer that is late, although nobody has noticed yet', async () => {
    const alone = await startTestChat();
    const sessionId = await alone.createSession();
    alone.provider.enqueue(script.callTools([ask('Which city?')]));
    await alone.chat.service.send(alone.caller, { sessionId, message: 'plan' });
    const [{ id: requestId }] = await alone.rows('SELECT id FROM input_requests');
    await alone.rows("UPDATE input_requests SET expires_at = now() - interval '1 second'");
    expect(await codeOf(alone.chat.service.answerQuestion(alone.caller, { requestId, answer: 'late' }))).toBe(
      'INPUT_EXPIRED',
    );
    const { body } = await alone.provider.request(1);
    expect(body.messages.at(-1)).toMatchObject({ content: expect.stringContaining('did not answer in time') });
    await alone.close();
  });

  it('refuses answers that are none, and answers of strangers', async () => {
    const { sessionId, requestId } = await startAsking();
    const { service } = test.chat;
    const answer = (text: string, caller = test.caller) =>
      codeOf(service.answerQuestion(caller, { requestId, answer: text }));
    expect(await answer('')).toBe('BAD_USER_INPUT');
    expect(await answer(' \n')).toBe('BAD_USER_INPUT');
    expect(await answer('a\0b')).toBe('BAD_USER_INPUT');
    expect(await answer('x'.repeat(1_048_577))).toBe('BAD_USER_INPUT');
    expect(await answer('mine', { owner: 'eve', tenant: '' })).toBe('NOT_FOUND');
    expect(await answer('mine', { owner: 'ada', tenant: 'other' })).toBe('NOT_FOUND');
    expect(
      await codeOf(
        service.answerQuestion(test.caller, { requestId: '00000000-0000-7000-8000-000000000000', answer: 'x' }),
      ),
    ).toBe('NOT_FOUND');
    expect((await requestsOf(sessionId))[0]).toMatchObject({ status: 'PENDING' });
    await service.stop(test.caller, sessionId);
    expect(await answer('too late')).toBe('INPUT_ALREADY_RESOLVED');
  });

  it('is stopped while it waits, from any process', async () => {
    for (const service of [test.chat.service, test.another().service]) {
      const { sessionId, events } = await startAsking();
      const stopped = await service.stop(test.caller, sessionId);
      expect(stopped).not.toBeNull();
      expect(tell(await readAll(events)).slice(-3)).toEqual(['InputResolved', 'ToolCallCompleted', 'TurnStopped']);
      expect(await requestsOf(sessionId)).toMatchObject([{ status: 'CANCELLED' }]);
      expect(await turnsOf(sessionId)).toMatchObject([{ status: 'STOPPED', finish_reason: 'STOPPED' }]);
      expect(await service.stop(test.caller, sessionId)).toBeNull();
      await service.send(test.caller, { sessionId, message: 'something else' });
    }
  });

  it('either stops or goes on when stop and answer come at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { sessionId, events, requestId } = await startAsking();
      const other = test.another();
      await other.start();
      await Promise.all([
        test.chat.service.stop(test.caller, sessionId),
        codeOf(other.service.answerQuestion(test.caller, { requestId, answer: 'Rome' })),
      ]);
      expect(tell(await readAll(events)).at(-1)).toMatch(/^Turn(Stopped|Completed)$/);
      expect((await requestsOf(sessionId))[0]?.status).toMatch(/^(CANCELLED|RESOLVED)$/);
      await test.chat.service.send(test.caller, { sessionId, message: 'next' });
    }
  });

  it('is asked in good order when a stop comes while it is being asked', async () => {
    const sessionId = await test.createSession();
    const asked = script.gate();
    const looked = deferred();
    const query = async (config: { name?: string }, ...rest: unknown[]) => {
      const result = await (test.database.pool.query as (...args: unknown[]) => Promise<unknown>)(config, ...rest);
      if (config.name === 'unwanted-turns') looked.resolve();
      return result;
    };
    const pool = Object.create(test.database.pool, { query: { value: query } });
    const other = test.another({
      database: { ...test.database, pool },
      failpoint: async (name) => {
        if (name === 'after-step') {
          asked.markReached();
          await asked.opened;
        }
      },
    });
    test.provider.enqueue(script.callTools([ask('Which city?')]));
    const events = await other.service.stream(test.caller, { sessionId, message: 'plan' });
    await asked.reached;
    // Stored, but this process has not heard of it when it is about to ask.
    await test.rows('UPDATE turns SET stop_requested_at = now() WHERE session_id = $1', sessionId);
    asked.open();
    await looked.promise;
    await other.service.stop(test.caller, sessionId);
    expect(tell(await readAll(events)).at(-1)).toBe('TurnStopped');
    expect(await requestsOf(sessionId)).toEqual([]);
  });
});
