import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import type { ToolContext } from '../../../src/agent/tools/tool.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { readAll, startTestChat, type TestChat } from '../../support/chat.js';
import { deferred } from '../../support/deferred.js';
import * as script from '../../support/script.js';

/** Runs of the tools, by the key of their arguments. */
const runs: { key: string; context: ToolContext }[] = [];
let begun = deferred();
let behave: (key: string, context: ToolContext) => Promise<unknown> = async () => 'done';
const tool = (name: string, sideEffect: 'read' | 'write', idempotent: boolean) =>
  defineTool({
    name,
    description: name,
    parameters: z.object({ key: z.string() }),
    sideEffect,
    idempotent,
    run({ key }, context) {
      runs.push({ key, context });
      begun.resolve();
      return behave(key, context);
    },
  });

const obedient = (_key: string, { signal }: ToolContext) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
const deaf = () => new Promise(() => {});

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({}, [tool('look', 'read', true), tool('pay', 'write', false)]);
  await test.chat.start();
});
afterEach(() => {
  runs.length = 0;
  begun = deferred();
  behave = async () => 'done';
  expect(test.provider.violations).toEqual([]);
});
afterAll(() => test.close());

const tell = (events: readonly TurnEvent[]) => events.map((event) => ('delta' in event ? event.delta : event.type));
const callsOf = (sessionId: string) =>
  test.rows(
    'SELECT call_id, status, error_code, result, attempts FROM tool_calls WHERE session_id = $1 ORDER BY position',
    sessionId,
  );
const expireLease = (sessionId: string) =>
  test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);

async function startCalling(calls: Parameters<typeof script.callTools>[0], content = 'Let me see.') {
  const sessionId = await test.createSession();
  test.provider.enqueue(script.callTools(calls, { content }));
  const events = await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
  await begun.promise;
  return { sessionId, events };
}

const look = (key: string) => ({ id: `c-${key}`, name: 'look', arguments: { key } });
const pay = (key: string) => ({ id: `c-${key}`, name: 'pay', arguments: { key } });

describe('a turn that is stopped while its tools run', () => {
  it.each([
    ['obeys', obedient],
    ['ignores', deaf],
  ])('ends soon when a tool %s the abort, with a result for every call', async (_how, run) => {
    behave = (key, context) => (key === 'quick' ? Promise.resolve('quick result') : run(key, context));
    const { sessionId, events } = await startCalling([look('quick'), look('slow'), pay('later')]);
    const told: string[] = [];
    while (told.at(-1) !== 'ToolCallCompleted') {
      const { value } = await events.next();
      if (value) told.push(...tell([value]));
    }
    const before = performance.now();
    await test.chat.service.stop(test.caller, sessionId);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(runs.find(({ key }) => key === 'slow')?.context.signal.aborted).toBe(true);
    expect(await callsOf(sessionId)).toMatchObject([
      { call_id: 'c-quick', status: 'SUCCEEDED', result: 'quick result' },
      { call_id: 'c-slow', status: 'INTERRUPTED', error_code: 'STOPPED' },
      { call_id: 'c-later', status: 'INTERRUPTED', error_code: 'STOPPED', attempts: 0 },
    ]);
    told.push(...tell(await readAll(events)));
    expect(told.filter((type) => type === 'ToolCallStarted')).toHaveLength(3);
    expect(told.filter((type) => type === 'ToolCallCompleted')).toHaveLength(3);
    expect(told.at(-1)).toBe('TurnStopped');
    expect(
      await test.rows(
        'SELECT t.status, m.content FROM turns t JOIN messages m ON m.id = t.final_message_id WHERE t.session_id = $1',
        sessionId,
      ),
    ).toEqual([{ status: 'STOPPED', content: 'Let me see.' }]);
    const first = test.provider.requests.length;
    await test.chat.service.send(test.caller, { sessionId, message: 'go on' });
    const { body } = await test.provider.request(first);
    expect(body.messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
  });

  it('keeps the result of a tool that finishes in spite of the abort', async () => {
    behave = (_key, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('paid after all'), { once: true }));
    const { sessionId } = await startCalling([pay('one')]);
    await test.chat.service.stop(test.caller, sessionId);
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'SUCCEEDED', result: 'paid after all' }]);
  });
});

describe('a turn whose owner is lost while its tools run', () => {
  it('runs an idempotent call again, and tells the model that the outcome of any other is unknown', async () => {
    const late = deferred();
    behave = (_key, { signal }) =>
      signal.aborted ? Promise.reject(signal.reason) : late.promise.then(() => 'too late');
    const { sessionId, events } = await startCalling([look('state'), pay('bill')]);
    const first = test.provider.requests.length;
    behave = async (key) => `${key} seen by the next owner`;
    const other = test.another();
    await expireLease(sessionId);
    await other.start();
    await test.provider.request(first);
    late.resolve();
    const told = tell(await readAll(events));
    expect(told.at(-1)).toBe('TurnCompleted');
    expect(await callsOf(sessionId)).toMatchObject([
      { call_id: 'c-state', status: 'SUCCEEDED', result: 'state seen by the next owner', attempts: 2 },
      { call_id: 'c-bill', status: 'SUCCEEDED', result: 'bill seen by the next owner', attempts: 1 },
    ]);
    const ids = runs.filter(({ key }) => key === 'state').map(({ context }) => context.toolCallId);
    expect(new Set(ids).size).toBe(1);
  });

  it('does not run again what may have been done', async () => {
    behave = deaf;
    const { sessionId, events } = await startCalling([pay('bill')]);
    const first = test.provider.requests.length;
    const other = test.another();
    await expireLease(sessionId);
    await other.start();
    const { body } = await test.provider.request(first);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('outcome unknown') });
    expect(runs).toHaveLength(1);
    const told = tell(await readAll(events));
    const anew = told.slice(told.lastIndexOf('TurnStarted'));
    expect(anew.slice(0, 6)).toEqual([
      'TurnStarted',
      'ContextReported',
      'Let me see.',
      'StepCompleted',
      'ToolCallStarted',
      'ToolCallCompleted',
    ]);
    expect(await callsOf(sessionId)).toMatchObject([
      { status: 'INTERRUPTED', error_code: 'OUTCOME_UNKNOWN', attempts: 1 },
    ]);
  });

  it('is handed over by a process that stops, with its tools aborted', async () => {
    behave = obedient;
    const mine = test.another();
    const sessionId = await test.createSession();
    test.provider.enqueue(script.callTools([look('state')]));
    const events = await mine.service.stream(test.caller, { sessionId, message: 'go' });
    await begun.promise;
    behave = async () => 'seen again';
    await mine.close(0);
    expect(runs[0]?.context.signal.aborted).toBe(true);
    const turn = async () =>
      (await test.rows('SELECT id, status, attempts FROM turns WHERE session_id = $1', sessionId))[0];
    await readAll(await test.chat.service.turnEvents(test.caller, (await turn())?.id));
    expect(await turn()).toMatchObject({ status: 'COMPLETED', attempts: 1 });
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'SUCCEEDED', result: 'seen again', attempts: 2 }]);
    await events.return?.();
  });

  it('ends with a result for every call when it has lost too many owners', async () => {
    behave = deaf;
    const { sessionId, events } = await startCalling([look('state'), pay('bill')]);
    await test.rows('UPDATE turns SET attempts = 3 WHERE session_id = $1', sessionId);
    await expireLease(sessionId);
    await test.another().start();
    expect(tell(await readAll(events)).at(-1)).toBe('TurnFailed');
    expect(await callsOf(sessionId)).toMatchObject([
      { status: 'INTERRUPTED', error_code: 'INTERRUPTED' },
      { status: 'INTERRUPTED', error_code: 'INTERRUPTED', attempts: 0 },
    ]);
    await test.chat.service.send(test.caller, { sessionId, message: 'again' });
  });
});
