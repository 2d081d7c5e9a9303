import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { codeOf, readAll, startTestChat, type TestChat } from '../../support/chat.js';
import { deferred } from '../../support/deferred.js';
import * as script from '../../support/script.js';

const paid: string[] = [];
let onPay = async (_signal: AbortSignal): Promise<void> => {};

let test: TestChat;
beforeAll(async () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays somebody.',
    parameters: z.object({ to: z.string() }),
    sideEffect: 'write',
    requiresApproval: true,
    async run({ to }, { signal }) {
      paid.push(to);
      await onPay(signal);
      return `paid ${to}`;
    },
  });
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({}),
    sideEffect: 'read',
    run: () => 'seen',
  });
  test = await startTestChat({}, [pay, look]);
  await test.chat.start();
});
afterEach(() => {
  expect(test.provider.violations).toEqual([]);
  paid.length = 0;
  onPay = async () => {};
});
afterAll(() => test.close());

const pay = (to: unknown, id = 'p1') => ({ id, name: 'pay', arguments: { to } });
/** Events in short, without those that only tell how a prompt was made up. */
const tell = (events: readonly TurnEvent[]) =>
  events
    .map((event) => ('delta' in event ? event.delta : event.type))
    .filter((type) => type !== 'ContextReported' && type !== 'DiagnosisReported');
const requestsOf = (sessionId: string) =>
  test.rows('SELECT * FROM input_requests WHERE session_id = $1 ORDER BY created_at, id', sessionId);
const callsOf = (sessionId: string) =>
  test.rows(
    'SELECT call_id, status, error_code, result, attempts, duration_ms FROM tool_calls WHERE session_id = $1 ORDER BY created_at, position',
    sessionId,
  );
const decide = (requestId: string, approved: boolean, reason?: string) =>
  test.chat.service.decideApproval(test.caller, { requestId, approved, reason });

/** A turn that waits to be allowed something. */
async function startAsking(...calls: Parameters<typeof script.callTools>[0]) {
  const sessionId = await test.createSession();
  test.provider.enqueue(script.callTools(calls.length === 0 ? [pay('Ann')] : calls));
  const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'pay Ann' });
  const events = await test.chat.service.turnEvents(test.caller, turnId);
  const requests = await requestsOf(sessionId);
  return { sessionId, turnId, events, requests, requestId: requests[0]?.id as string };
}

/** The messages of the request that goes on after an answer. */
async function goOn(answer: () => Promise<unknown>) {
  const first = test.provider.requests.length;
  await answer();
  return (await test.provider.request(first)).body.messages;
}

describe('a call that needs approval', () => {
  it('asks before anything is done, holds nothing meanwhile, and is run when it is allowed', async () => {
    const { sessionId, turnId, events, requestId, requests } = await startAsking();
    expect(requests).toMatchObject([
      { kind: 'APPROVAL', status: 'PENDING', arguments_digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'PENDING', attempts: 0 }]);
    expect(await test.rows('SELECT status, lease_owner FROM turns WHERE id = $1', turnId)).toEqual([
      { status: 'AWAITING_INPUT', lease_owner: null },
    ]);
    expect(paid).toEqual([]);
    test.provider.enqueue(script.reply('Paid.'));
    const messages = await goOn(() => decide(requestId, true));
    expect(messages.at(-1)).toEqual({ role: 'tool', content: 'paid Ann', tool_call_id: 'p1' });
    const seen = await readAll(events);
    expect(tell(seen)).toEqual([
      'TurnStarted',
      'StepCompleted',
      'InputRequested',
      'InputResolved',
      'ToolCallStarted',
      'ToolCallCompleted',
      'Paid.',
      'StepCompleted',
      'TurnCompleted',
    ]);
    expect(await readAll(await test.chat.service.turnEvents(test.caller, turnId))).toEqual(seen);
    expect(paid).toEqual(['Ann']);
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'SUCCEEDED', attempts: 1, error_code: null }]);
    const trace = await test.rows(
      "SELECT type, data FROM trace_events WHERE session_id = $1 AND type::text LIKE 'INPUT%' ORDER BY sequence",
      sessionId,
    );
    expect(trace).toMatchObject([
      { type: 'INPUT_REQUESTED', data: { kind: 'APPROVAL', argumentsDigest: expect.stringMatching(/^[0-9a-f]{16}$/) } },
      { type: 'INPUT_RESOLVED', data: { kind: 'APPROVAL', status: 'RESOLVED', approved: true } },
    ]);
  });

  it('is not run when it is denied, and the model hears why', async () => {
    const { sessionId, events, requestId } = await startAsking();
    const messages = await goOn(() => decide(requestId, false, ' Ann is no supplier. '));
    expect(messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringMatching(
        /^Not run: the user did not allow this call\. Do not try it again\. Their reason: Ann is no supplier\.\n/,
      ),
    });
    expect(tell(await readAll(events)).slice(2, 6)).toEqual([
      'InputRequested',
      'InputResolved',
      'ToolCallStarted',
      'ToolCallCompleted',
    ]);
    expect(await callsOf(sessionId)).toMatchObject([
      { status: 'DENIED', error_code: 'DENIED', attempts: 0, duration_ms: null },
    ]);
    expect(paid).toEqual([]);
  });

  it('counts as denied when nobody decides in time, and is not run by a late decision', async () => {
    const { sessionId, requestId } = await startAsking();
    const messages = await goOn(() =>
      test.rows("UPDATE input_requests SET expires_at = now() - interval '1 second' WHERE id = $1", requestId),
    );
    expect(messages.at(-1)).toMatchObject({ content: expect.stringContaining('counts as a denial') });
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'DENIED', error_code: 'INPUT_EXPIRED' }]);
    expect(await codeOf(decide(requestId, true))).toBe('INPUT_EXPIRED');
    expect(paid).toEqual([]);
  });

  it('is only asked for with arguments that are valid', async () => {
    const sessionId = await test.createSession();
    test.provider.enqueue(script.callTools([pay(7)]), script.reply('Sorry.'));
    await test.chat.service.send(test.caller, { sessionId, message: 'pay' });
    expect(await requestsOf(sessionId)).toEqual([]);
    expect(await callsOf(sessionId)).toMatchObject([{ error_code: 'INVALID_ARGUMENTS' }]);
  });

  it('is not run with other arguments than those that were shown', async () => {
    const { sessionId, requestId } = await startAsking();
    await test.rows('UPDATE tool_calls SET arguments = \'{"to": "Eve"}\' WHERE session_id = $1', sessionId);
    const messages = await goOn(() => decide(requestId, true));
    expect(messages.at(-1)).toMatchObject({
      content: expect.stringContaining('not the call that the user has allowed'),
    });
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'DENIED', error_code: 'ARGUMENTS_CHANGED' }]);
    expect(paid).toEqual([]);
  });

  it('is not run when its session may not use the tool any more', async () => {
    const { sessionId, requestId } = await startAsking();
    await test.rows("UPDATE chat_sessions SET tool_names = '[]' WHERE id = $1", sessionId);
    await goOn(() => decide(requestId, true));
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'FAILED', error_code: 'UNKNOWN_TOOL' }]);
    expect(paid).toEqual([]);
  });

  it('asks again for the same call made anew', async () => {
    const { sessionId, requestId } = await startAsking();
    test.provider.enqueue(script.callTools([pay('Ann', 'p2')]));
    const events = await test.chat.service.sessionEvents(test.caller, sessionId);
    await decide(requestId, true);
    let requested = 0;
    for await (const { type } of events) {
      if (type === 'InputRequested') requested += 1;
      if (requested === 2) break;
    }
    expect(paid).toEqual(['Ann']);
    await test.chat.service.stop(test.caller, sessionId);
    expect(await requestsOf(sessionId)).toMatchObject([{ status: 'RESOLVED' }, { status: 'CANCELLED' }]);
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'SUCCEEDED' }, { status: 'INTERRUPTED' }]);
  });

  it('is decided once, however many decide at once and where', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { sessionId, requestId, events } = await startAsking();
      const services = [test.chat.service, test.another().service, test.another().service];
      const codes = await Promise.all(
        services.map((service, at) =>
          codeOf(service.decideApproval(test.caller, { requestId, approved: (at + round) % 2 === 0 })),
        ),
      );
      expect(codes.sort()).toEqual(['INPUT_ALREADY_RESOLVED', 'INPUT_ALREADY_RESOLVED', 'OK']);
      expect(tell(await readAll(events)).at(-1)).toBe('TurnCompleted');
      const [call] = await callsOf(sessionId);
      const [{ answer }] = await requestsOf(sessionId);
      expect(call.status).toBe(answer.approved ? 'SUCCEEDED' : 'DENIED');
      expect(paid.splice(0)).toEqual(answer.approved ? ['Ann'] : []);
    }
  });

  it('waits for all that its step asks, of any kind, and then takes the calls in their order', async () => {
    const { requests, sessionId } = await startAsking(
      pay('Ann', 'p1'),
      { id: 'q1', name: 'ask_user', arguments: { question: 'Which account?' } },
      { id: 'l1', name: 'look', arguments: {} },
      pay('Bob', 'p2'),
    );
    expect(requests.map(({ kind }) => kind)).toEqual(['APPROVAL', 'QUESTION', 'APPROVAL']);
    const [first, question, second] = requests.map(({ id }) => id as string);
    await decide(second ?? '', true);
    await decide(first ?? '', true);
    expect(paid).toEqual([]);
    const messages = await goOn(() =>
      test.chat.service.answerQuestion(test.caller, { requestId: question ?? '', answer: 'the blue one' }),
    );
    expect(messages.slice(-4)).toEqual([
      { role: 'tool', content: 'paid Ann', tool_call_id: 'p1' },
      { role: 'tool', content: 'the blue one', tool_call_id: 'q1' },
      { role: 'tool', content: 'seen', tool_call_id: 'l1' },
      { role: 'tool', content: 'paid Bob', tool_call_id: 'p2' },
    ]);
    expect(paid).toEqual(['Ann', 'Bob']);
    expect(await callsOf(sessionId)).toMatchObject(Array.from({ length: 4 }, () => ({ status: 'SUCCEEDED' })));
  });

  it('is decided after a restart', async () => {
    const mine = test.another();
    const sessionId = await test.createSession();
    test.provider.enqueue(script.callTools([pay('Ann')]));
    await mine.service.send(test.caller, { sessionId, message: 'pay' });
    await mine.close(0);
    const next = test.another();
    await next.start();
    const [{ id: requestId }] = await requestsOf(sessionId);
    const messages = await goOn(() => next.service.decideApproval(test.caller, { requestId, approved: true }));
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: 'paid Ann' });
    expect(paid).toEqual(['Ann']);
  });

  it('is run by whoever takes the turn up when the process that took the decision is lost', async () => {
    const { sessionId, events, requestId } = await startAsking();
    await test.rows(
      `UPDATE input_requests SET status = 'RESOLVED', answer = '{"approved": true, "reason": null}', resolved_at = now() WHERE id = $1`,
      requestId,
    );
    const messages = await goOn(() =>
      test.rows(
        "UPDATE turns SET status = 'RUNNING', lease_epoch = lease_epoch + 1, lease_owner = 'dead', lease_expires_at = now() WHERE session_id = $1",
        sessionId,
      ),
    );
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: 'paid Ann' });
    expect(paid).toEqual(['Ann']);
    expect(tell(await readAll(events)).at(-1)).toBe('TurnCompleted');
  });

  it('is not run twice when its process is lost while it runs', async () => {
    const { sessionId, requestId, events } = await startAsking();
    const begun = deferred();
    onPay = (signal) => {
      begun.resolve();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    };
    const lost = test.another();
    await lost.service.decideApproval(test.caller, { requestId, approved: true });
    await begun.promise;
    const messages = await goOn(() =>
      test.rows(
        "UPDATE turns SET lease_epoch = lease_epoch + 1, lease_owner = 'dead', lease_expires_at = now() WHERE session_id = $1",
        sessionId,
      ),
    );
    expect(messages.at(-1)).toMatchObject({ content: expect.stringContaining('outcome unknown') });
    expect(paid).toEqual(['Ann']);
    const told = tell(await readAll(events)).filter((type) => /^(Input|ToolCall)/.test(type));
    expect(told.slice(-4)).toEqual(['InputRequested', 'InputResolved', 'ToolCallStarted', 'ToolCallCompleted']);
  });

  it('is closed by a stop', async () => {
    const { sessionId, events, requestId } = await startAsking();
    await test.chat.service.stop(test.caller, sessionId);
    expect(tell(await readAll(events)).slice(-4)).toEqual([
      'InputResolved',
      'ToolCallStarted',
      'ToolCallCompleted',
      'TurnStopped',
    ]);
    expect(await codeOf(decide(requestId, true))).toBe('INPUT_ALREADY_RESOLVED');
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'INTERRUPTED', error_code: 'STOPPED' }]);
    expect(paid).toEqual([]);
  });

  it('takes decisions only of its owner, of the right kind, with a reason that can be stored', async () => {
    const { sessionId, requestId } = await startAsking();
    const { service } = test.chat;
    const eve = { owner: 'eve', tenant: '' };
    expect(await codeOf(service.decideApproval(eve, { requestId, approved: true }))).toBe('NOT_FOUND');
    expect(await codeOf(service.answerQuestion(test.caller, { requestId, answer: 'yes' }))).toBe('BAD_USER_INPUT');
    expect(await codeOf(service.submitToolResult(test.caller, { requestId, result: 'yes' }))).toBe('BAD_USER_INPUT');
    expect(await codeOf(decide(requestId, false, 'a\0b'))).toBe('BAD_USER_INPUT');
    expect(await codeOf(decide(requestId, false, 'x'.repeat(4_001)))).toBe('BAD_USER_INPUT');
    expect(await requestsOf(sessionId)).toMatchObject([{ status: 'PENDING' }]);
    const messages = await goOn(() => decide(requestId, false, '  '));
    expect(messages.at(-1)?.content).toMatch(/^Not run: the user did not allow this call\. Do not try it again\.\n/);
  });

  it('is never done by what a history was seeded with', async () => {
    const sessionId = await test.createSession();
    await test.chat.service.seedHistory(test.caller, sessionId, [
      { role: 'USER', content: 'pay Ann' },
      { role: 'ASSISTANT', content: '', toolCalls: [{ id: 'p1', name: 'pay', arguments: { to: 'Ann' } }] },
      { role: 'TOOL', toolCallId: 'p1', content: 'approved' },
    ]);
    test.provider.enqueue(script.callTools([pay('Ann', 'p2')]));
    await test.chat.service.send(test.caller, { sessionId, message: 'again' });
    expect(await requestsOf(sessionId)).toMatchObject([{ kind: 'APPROVAL', status: 'PENDING' }]);
    expect(paid).toEqual([]);
    await test.chat.service.stop(test.caller, sessionId);
  });
});
