import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import type { ServerTool, ToolSideEffect } from '../../../src/agent/tools/tool.js';
import { ToolFailure } from '../../../src/agent/tools/tool-failure.js';
import { startTestChat, type TestChat } from '../../support/chat.js';
import { deferred } from '../../support/deferred.js';
import * as script from '../../support/script.js';

/** What the next runs of a tool do, in order; after them it gives "there". */
const runs: (() => unknown)[] = [];
let count = 0;
const flaky = (name: string, sideEffect: ToolSideEffect, options: Partial<ServerTool> = {}) =>
  defineTool({
    name,
    description: name,
    parameters: z.object({ key: z.string().optional() }),
    sideEffect,
    ...(options as object),
    run: () => {
      count += 1;
      return (runs.shift() ?? (() => 'there'))();
    },
  });

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({}, [
    flaky('look', 'read', { timeoutMs: 300 }),
    flaky('look_once', 'read', { retries: 0 }),
    flaky('pay', 'write', { timeoutMs: 300 }),
    flaky('put', 'write', { idempotent: true, retries: 1 }),
    flaky('brief', 'read', { resultLimit: 10 }),
  ]);
});
afterEach(() => {
  expect(test.provider.violations).toEqual([]);
  runs.length = 0;
  count = 0;
});
afterAll(() => test.close());

const refused = () => {
  throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
};
const hang = () => new Promise(() => {});

async function call(name: string, args: unknown = {}) {
  const sessionId = await test.createSession();
  test.provider.enqueue(script.callTools([{ id: 'c1', name, arguments: args }]), script.reply('Well.'));
  const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'go' });
  const [row] = await test.rows(
    'SELECT status, error_code, result, attempts FROM tool_calls WHERE turn_id = $1',
    turnId,
  );
  return row;
}

describe('a call that was lost on the way', () => {
  it('is made again, and its attempts are counted', async () => {
    runs.push(refused, hang);
    expect(await call('look')).toEqual({ status: 'SUCCEEDED', error_code: null, result: 'there', attempts: 3 });
  });

  it('is given up after as many attempts as its tool allows', async () => {
    runs.push(refused, refused, refused, refused);
    expect(await call('look')).toMatchObject({ status: 'FAILED', error_code: 'UNREACHABLE', attempts: 3 });
    runs.length = 0;
    runs.push(refused);
    expect(await call('look_once')).toMatchObject({ status: 'FAILED', error_code: 'UNREACHABLE', attempts: 1 });
  });

  it('is not made again where it might do harm twice', async () => {
    runs.push(refused);
    expect(await call('pay')).toMatchObject({ status: 'FAILED', error_code: 'UNREACHABLE', attempts: 1 });
    runs.push(hang);
    expect(await call('pay')).toMatchObject({
      status: 'FAILED',
      error_code: 'OUTCOME_UNKNOWN',
      result: expect.stringMatching(/Do not simply call it again\.\n\n\[advice: Stop trying\. Ask the user/),
      attempts: 1,
    });
    expect(count).toBe(2);
  });

  it('is made again where writing twice is the same as once', async () => {
    runs.push(refused);
    expect(await call('put')).toMatchObject({ status: 'SUCCEEDED', attempts: 2 });
  });

  it('is not made again when its tool says that it is wrong, or fails for a reason of its own', async () => {
    const failWith = (failure: Error) => () => {
      throw failure;
    };
    runs.push(failWith(new ToolFailure('NO_SUCH_CITY', 'validation', 'There is no such city.')));
    expect(await call('look')).toEqual({
      status: 'FAILED',
      error_code: 'NO_SUCH_CITY',
      result: expect.stringMatching(/^There is no such city\.\n\n\[advice: Call it again with other arguments/),
      attempts: 1,
    });
    runs.push(failWith(new Error('ECONNREFUSED, says the text alone')));
    expect(await call('look')).toMatchObject({ status: 'FAILED', error_code: 'TOOL_ERROR', attempts: 1 });
  });

  it('stops with its turn while it waits for another attempt', async () => {
    const sessionId = await test.createSession();
    const tried = deferred();
    runs.push(() => {
      tried.resolve();
      return refused();
    }, hang);
    test.provider.enqueue(script.callTools([{ id: 'c1', name: 'look', arguments: {} }]));
    const sent = test.chat.service.send(test.caller, { sessionId, message: 'go' });
    await tried.promise;
    await test.chat.service.stop(test.caller, sessionId);
    const { turnId } = await sent;
    expect(await test.rows('SELECT status FROM turns WHERE id = $1', turnId)).toEqual([{ status: 'STOPPED' }]);
    expect(await test.rows('SELECT status FROM tool_calls WHERE turn_id = $1', turnId)).toEqual([
      { status: 'INTERRUPTED' },
    ]);
  });
});

describe('a result', () => {
  it('is cut at the limit of its tool', async () => {
    runs.push(() => 'x'.repeat(40));
    expect((await call('brief')).result).toMatch(
      /^x{10}\n\[cut: the result has 40 characters, these are the first 10\]$/,
    );
  });
});

describe('a call that fails again and again', () => {
  it('is not run any more after three times, while other arguments are', async () => {
    const sessionId = await test.createSession({ maxStepsPerTurn: 20 });
    const fail = () => {
      throw new Error('never works');
    };
    runs.push(fail, fail, fail);
    const again = script.callTools([{ id: 'c1', name: 'look', arguments: { key: 'a' } }]);
    const other = script.callTools([{ id: 'c2', name: 'look', arguments: { key: 'b' } }]);
    test.provider.enqueue(again, again, again, again, other, again, script.reply('I give up.'));
    const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'go' });
    const rows = await test.rows(
      'SELECT status, error_code, attempts FROM tool_calls WHERE turn_id = $1 ORDER BY created_at, id',
      turnId,
    );
    expect(rows.map(({ error_code }) => error_code)).toEqual([
      'TOOL_ERROR',
      'TOOL_ERROR',
      'TOOL_ERROR',
      'REPEATED_CALL',
      null,
      'REPEATED_CALL',
    ]);
    expect(rows[3]).toMatchObject({ status: 'FAILED', attempts: 0 });
    expect(count).toBe(4);
  });
});
