import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NewClientTool } from '../../../src/chat/service.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { codeOf, readAll, startTestChat, type TestChat } from '../../support/chat.js';
import * as script from '../../support/script.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
  await test.chat.start();
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const locate: NewClientTool = {
  name: 'locate',
  description: 'Where the user is.',
  parameters: {
    type: 'object',
    properties: { precision: { type: 'integer', minimum: 1 } },
    required: ['precision'],
    additionalProperties: false,
  },
};
const call = (args: unknown = { precision: 2 }, id = 'c1') => ({ id, name: 'locate', arguments: args });
/** Events in short, without those that only tell how a prompt was made up. */
const tell = (events: readonly TurnEvent[]) =>
  events
    .map((event) => ('delta' in event ? event.delta : event.type))
    .filter((type) => type !== 'ContextReported' && type !== 'DiagnosisReported');
const requestsOf = (sessionId: string) =>
  test.rows('SELECT * FROM input_requests WHERE session_id = $1 ORDER BY created_at, id', sessionId);
const callsOf = (sessionId: string) =>
  test.rows('SELECT * FROM tool_calls WHERE session_id = $1 ORDER BY created_at, position', sessionId);
const submit = (requestId: string, result: string, isError?: boolean) =>
  test.chat.service.submitToolResult(test.caller, { requestId, result, isError });

async function startWaiting(...calls: Parameters<typeof script.callTools>[0]) {
  const sessionId = await test.createSession({ clientTools: [locate] });
  test.provider.enqueue(script.callTools(calls.length === 0 ? [call()] : calls));
  const { turnId } = await test.chat.service.send(test.caller, { sessionId, message: 'where am I?' });
  const events = await test.chat.service.turnEvents(test.caller, turnId);
  const requests = await requestsOf(sessionId);
  return { sessionId, turnId, events, requests, requestId: requests[0]?.id as string };
}

async function goOn(answer: () => Promise<unknown>) {
  const first = test.provider.requests.length;
  await answer();
  return (await test.provider.request(first)).body.messages;
}

describe('a tool of the client', () => {
  it('is offered to the model, run by the client, and its result told to the model', async () => {
    const first = test.provider.requests.length;
    const { sessionId, turnId, events, requestId, requests } = await startWaiting();
    const { body } = await test.provider.request(first);
    expect((body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
      'ask_user',
      'locate',
    ]);
    expect((body.tools as unknown[]).at(-1)).toEqual({ type: 'function', function: locate });
    expect(requests).toMatchObject([{ kind: 'CLIENT_TOOL', status: 'PENDING', arguments_digest: null }]);
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'RUNNING', attempts: 1 }]);
    test.provider.enqueue(script.reply('You are in Rome.'));
    const messages = await goOn(() => submit(requestId, '{"city":"Rome"}'));
    expect(messages.at(-1)).toEqual({ role: 'tool', content: '{"city":"Rome"}', tool_call_id: 'c1' });
    const seen = await readAll(events);
    expect(tell(seen)).toEqual([
      'TurnStarted',
      'StepCompleted',
      'ToolCallStarted',
      'InputRequested',
      'InputResolved',
      'ToolCallCompleted',
      'You are in Rome.',
      'StepCompleted',
      'TurnCompleted',
    ]);
    expect(await readAll(await test.chat.service.turnEvents(test.caller, turnId))).toEqual(seen);
    expect(await callsOf(sessionId)).toMatchObject([
      { status: 'SUCCEEDED', result: '{"city":"Rome"}', error_code: null, duration_ms: expect.any(Number) },
    ]);
    expect(await codeOf(submit(requestId, 'again'))).toBe('INPUT_ALREADY_RESOLVED');
  });

  it('can fail, give nothing, and give far too much', async () => {
    const failed = await startWaiting();
    expect((await goOn(() => submit(failed.requestId, 'The user said no.', true))).at(-1)?.content).toMatch(
      /^The user said no\.\n/,
    );
    expect(await callsOf(failed.sessionId)).toMatchObject([{ status: 'FAILED', error_code: 'CLIENT_ERROR' }]);

    const silent = await startWaiting();
    expect((await goOn(() => submit(silent.requestId, ''))).at(-1)?.content).toBe('(no output)');

    const loud = await startWaiting();
    expect((await goOn(() => submit(loud.requestId, 'x'.repeat(100_000)))).at(-1)?.content).toMatch(
      /^x{4096}\n\[cut: the result has 100000 characters/,
    );
    expect(await codeOf(submit(loud.requestId, 'x'.repeat(1_048_577)))).toBe('BAD_USER_INPUT');
    expect(await codeOf(submit(loud.requestId, 'a\0b'))).toBe('BAD_USER_INPUT');
  });

  it('is only asked for with arguments that are valid by its own schema', async () => {
    const sessionId = await test.createSession({ clientTools: [locate] });
    const first = test.provider.requests.length;
    test.provider.enqueue(
      script.callTools([call({ precision: 'high', extra: 1 }), call('{"precision":', 'c2')]),
      script.reply('Sorry.'),
    );
    await test.chat.service.send(test.caller, { sessionId, message: 'where am I?' });
    expect(await requestsOf(sessionId)).toEqual([]);
    const { body } = await test.provider.request(first + 1);
    expect(body.messages.slice(-2)).toMatchObject([
      { content: expect.stringMatching(/must NOT have additional properties: "extra"; precision: must be integer/) },
      { content: expect.stringContaining('cut off') },
    ]);
  });

  it('goes without a result that does not come in time', async () => {
    const { sessionId, requestId } = await startWaiting();
    const messages = await goOn(() =>
      test.rows("UPDATE input_requests SET expires_at = now() - interval '1 second' WHERE id = $1", requestId),
    );
    expect(messages.at(-1)?.content).toContain('gave no result in time');
    expect(await callsOf(sessionId)).toMatchObject([{ status: 'FAILED', error_code: 'INPUT_EXPIRED' }]);
    expect(await codeOf(submit(requestId, 'late'))).toBe('INPUT_EXPIRED');
  });

  it('is asked for several times at once, and beside a question', async () => {
    const { requests } = await startWaiting(call({ precision: 1 }, 'c1'), call({ precision: 2 }, 'c2'), {
      id: 'q1',
      name: 'ask_user',
      arguments: { question: 'Sure?' },
    });
    expect(requests.map(({ kind }) => kind)).toEqual(['CLIENT_TOOL', 'CLIENT_TOOL', 'QUESTION']);
    const [one, two, question] = requests.map(({ id }) => id as string);
    await submit(two ?? '', 'two');
    await test.chat.service.answerQuestion(test.caller, { requestId: question ?? '', answer: 'yes' });
    const messages = await goOn(() => submit(one ?? '', 'one'));
    expect(messages.slice(-3).map(({ content }) => content)).toEqual(['one', 'two', 'yes']);
  });

  it('takes one result of several that come at once', async () => {
    const { requestId, sessionId } = await startWaiting();
    const services = [test.chat.service, test.another().service, test.another().service];
    const codes = await Promise.all(
      services.map((service, at) => codeOf(service.submitToolResult(test.caller, { requestId, result: `${at}` }))),
    );
    expect([...codes].sort()).toEqual(['INPUT_ALREADY_RESOLVED', 'INPUT_ALREADY_RESOLVED', 'OK']);
    await readAll(await test.chat.service.turnEvents(test.caller, (await callsOf(sessionId))[0].turn_id));
    expect((await callsOf(sessionId))[0]).toMatchObject({ result: String(codes.indexOf('OK')) });
  });

  it('waits through a restart', async () => {
    const mine = test.another();
    const sessionId = await test.createSession({ clientTools: [locate] });
    test.provider.enqueue(script.callTools([call()]));
    await mine.service.send(test.caller, { sessionId, message: 'where am I?' });
    await mine.close(0);
    const next = test.another();
    await next.start();
    const [{ id: requestId }] = await requestsOf(sessionId);
    const messages = await goOn(() => next.service.submitToolResult(test.caller, { requestId, result: 'Oslo' }));
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: 'Oslo' });
  });

  it('goes along into a fork, and belongs to no other session', async () => {
    const { sessionId } = await startWaiting();
    await test.chat.service.stop(test.caller, sessionId);
    const fork = await test.chat.service.forkSession(test.caller, { sessionId });
    test.provider.enqueue(script.callTools([call()]));
    await test.chat.service.send(test.caller, { sessionId: fork.id, message: 'and now?' });
    expect(await requestsOf(fork.id)).toMatchObject([{ kind: 'CLIENT_TOOL' }]);
    await test.chat.service.stop(test.caller, fork.id);

    const other = await test.createSession();
    test.provider.enqueue(script.callTools([call()]), script.reply('Alas.'));
    await test.chat.service.send(test.caller, { sessionId: other, message: 'where am I?' });
    expect(await callsOf(other)).toMatchObject([
      {
        error_code: 'UNKNOWN_TOOL',
        result: expect.stringMatching(/^There is no tool locate\. The tools are: ask_user\.\n/),
      },
    ]);
  });

  it('keeps its name when the server learns a tool of that name later', async () => {
    const sessionId = await test.createSession({ clientTools: [locate] });
    await test.rows(
      "UPDATE chat_sessions SET client_tools = replace(client_tools::text, 'locate', 'ask_user')::jsonb WHERE id = $1",
      sessionId,
    );
    const first = test.provider.requests.length;
    await test.chat.service.send(test.caller, { sessionId, message: 'hello' });
    const { body } = await test.provider.request(first);
    expect(body.tools).toMatchObject([{ function: { name: 'ask_user', description: 'Where the user is.' } }]);
  });
});
