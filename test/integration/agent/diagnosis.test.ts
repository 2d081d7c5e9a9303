import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { readAll, startTestChat, type TestChat } from '../../support/chat.js';
import * as script from '../../support/script.js';

let isBroken = true;
const flaky = (name: string) =>
  defineTool({
    name,
    description: name,
    parameters: z.object({ key: z.number() }),
    sideEffect: 'write',
    run() {
      if (isBroken) throw new Error('secret cause');
      return 'done';
    },
  });

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat({}, [flaky('flaky'), flaky('other')]);
  await test.chat.start();
});
afterEach(() => {
  isBroken = true;
  expect(test.provider.violations).toEqual([]);
});
afterAll(() => test.close());

let nextKey = 0;
/** A turn in which the model calls a tool once. */
async function call(sessionId: string, name = 'flaky', given: unknown = { key: nextKey++ }) {
  test.provider.enqueue(script.callTools([{ id: 'c1', name, arguments: given }]), script.reply('So it is.'));
  return readAll(await test.chat.service.stream(test.caller, { sessionId, message: 'go' }));
}
const diagnosisIn = (events: readonly TurnEvent[]) => events.find(({ type }) => type === 'DiagnosisReported');

describe('a tool that fails', () => {
  it('is told to people by an event and a trace, and to the model inside of the result', async () => {
    const sessionId = await test.createSession();
    const events = await call(sessionId);
    const types = events.map(({ type }) => type);
    expect(types.indexOf('DiagnosisReported')).toBe(types.indexOf('ToolCallCompleted') + 1);
    expect(diagnosisIn(events)).toMatchObject({ step: 1, callId: 'c1', category: 'tool_error' });
    const { suggestion } = diagnosisIn(events) as { suggestion: string } & TurnEvent;
    const prompt = test.provider.requests.at(-1)?.body.messages as { role: string; content: string }[];
    expect(prompt.at(-1)).toMatchObject({ role: 'tool', content: `The tool failed.\n\n[advice: ${suggestion}]` });
    expect(prompt.filter(({ role }) => role === 'user')).toHaveLength(1);
    const [trace] = await test.rows(
      "SELECT data FROM trace_events WHERE session_id = $1 AND type = 'DIAGNOSIS'",
      sessionId,
    );
    expect(trace.data).toMatchObject({ name: 'flaky', category: 'tool_error', failures: 1, suggestion });
    const replayed = await readAll(await test.chat.service.turnEvents(test.caller, events[0]?.turnId ?? ''));
    expect(diagnosisIn(replayed)).toEqual(diagnosisIn(events));
  });

  it('again and again in a session ends with the advice to give up, until it succeeds', async () => {
    const sessionId = await test.createSession();
    const advice: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      advice.push((diagnosisIn(await call(sessionId)) as { suggestion: string } & TurnEvent).suggestion);
    }
    expect(new Set(advice).size).toBe(4);
    expect(advice.slice(2)).toEqual([
      expect.stringMatching(/Ask the user/),
      expect.stringMatching(/Tell the user/),
      advice[3],
    ]);
    const elsewhere = diagnosisIn(await call(sessionId, 'other'));
    expect(elsewhere).toMatchObject({ suggestion: advice[0] });
    isBroken = false;
    expect(diagnosisIn(await call(sessionId))).toBeUndefined();
    isBroken = true;
    expect(diagnosisIn(await call(sessionId))).toMatchObject({ suggestion: advice[0] });
  });

  it('for its arguments or its name is another kind of failure', async () => {
    const sessionId = await test.createSession();
    expect(diagnosisIn(await call(sessionId, 'flaky', { key: 'x' }))).toMatchObject({ category: 'arguments' });
    expect(diagnosisIn(await call(sessionId, 'nope'))).toMatchObject({ category: 'unknown_tool' });
  });
});
