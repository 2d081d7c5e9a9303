import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TurnEvent } from '../../../src/events/event.js';
import { readAll, startTestChat, type TestChat } from '../../support/chat.js';
import * as script from '../../support/script.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
  await test.chat.start();
});
afterEach(() => expect(test.provider.violations).toEqual([]));
afterAll(() => test.close());

const usage = script.usage({ prompt: 10, completion: 5 });
const cut = (text: string) => [script.text(text), script.finish('length'), usage];
const textOf = (events: readonly TurnEvent[]) =>
  events.map((event) => (event.type === 'TextDelta' ? event.delta : '')).join('');
const steps = (events: readonly TurnEvent[]) => events.filter((event) => event.type === 'StepCompleted');
const repliesOf = (sessionId: string) =>
  test.rows(
    "SELECT id, status, content FROM messages WHERE session_id = $1 AND role = 'ASSISTANT' ORDER BY sequence",
    sessionId,
  );
const turnOf = async (sessionId: string) =>
  (await test.rows('SELECT * FROM turns WHERE session_id = $1 ORDER BY number DESC LIMIT 1', sessionId))[0];
const tracesOf = (sessionId: string) =>
  test.rows("SELECT data FROM trace_events WHERE session_id = $1 AND type = 'ASSESSMENT' ORDER BY sequence", sessionId);
const follow = async (sessionId: string, message = 'go') =>
  readAll(await test.chat.service.stream(test.caller, { sessionId, message }));
const newRequests = () => {
  const from = test.provider.requests.length;
  return () => test.provider.requests.slice(from).map(({ body }) => body.messages);
};

describe('a reply that is cut by its length', () => {
  it('goes on in the same message, which is stored, told and given as one', async () => {
    const sessionId = await test.createSession();
    const requests = newRequests();
    test.provider.enqueue(cut('Once upon '), cut('a time there '), [
      script.text('was an end.'),
      script.finish(),
      usage,
    ]);
    const events = await follow(sessionId);
    expect(textOf(events)).toBe('Once upon a time there was an end.');
    expect(new Set(events.flatMap((event) => (event.type === 'TextDelta' ? [event.messageId] : []))).size).toBe(1);
    expect(steps(events).map(({ assessment }) => assessment)).toMatchObject([
      { completed: false, confidence: null, reasons: ['length'] },
      { completed: false, confidence: null, reasons: ['length'] },
      { completed: true, confidence: 0.9, reasons: ['answered'] },
    ]);
    expect(await repliesOf(sessionId)).toMatchObject([
      { status: 'COMPLETE', content: 'Once upon a time there was an end.' },
    ]);
    expect(await turnOf(sessionId)).toMatchObject({ finish_reason: 'STOP', step: 3 });
    expect(await tracesOf(sessionId)).toMatchObject([
      { data: { step: 1, goesOn: 'length' } },
      {},
      { data: { step: 3 } },
    ]);
    const [, second, third] = requests();
    expect(second?.at(-2)).toMatchObject({ role: 'assistant', content: 'Once upon ' });
    expect(third?.at(-2)).toMatchObject({ role: 'assistant', content: 'Once upon a time there ' });
    expect(third).toHaveLength(4);
    const { turnId } = events[0] as TurnEvent;
    const replayed = await readAll(await test.chat.service.turnEvents(test.caller, turnId));
    expect(textOf(replayed)).toBe(textOf(events));
    expect(replayed.at(-1)?.sequence).toBe(events.at(-1)?.sequence);

    test.provider.enqueue(script.reply('Next.'));
    await follow(sessionId, 'and?');
    expect(requests().at(-1)).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'Once upon a time there was an end.' },
      { role: 'user', content: 'and?' },
    ]);
  });

  it('ends as a part when the steps of the turn are used up', async () => {
    const sessionId = await test.createSession({ maxStepsPerTurn: 2 });
    test.provider.enqueue(cut('one '), cut('two '));
    const events = await follow(sessionId);
    expect(events.at(-1)?.type).toBe('TurnCompleted');
    expect(await turnOf(sessionId)).toMatchObject({ status: 'COMPLETED', finish_reason: 'LENGTH' });
    expect(await repliesOf(sessionId)).toMatchObject([{ status: 'PARTIAL', content: 'one two ' }]);
  });

  it('ends at the length that the client has asked for', async () => {
    const sessionId = await test.createSession({ maxOutputTokens: 20 });
    test.provider.enqueue(cut('twenty tokens'));
    await follow(sessionId);
    expect(await turnOf(sessionId)).toMatchObject({ finish_reason: 'LENGTH', step: 1 });
  });

  it('is kept as a part when the turn is stopped in its second step, and when that fails', async () => {
    const sessionId = await test.createSession();
    test.provider.enqueue(cut('first, '), [script.text('second'), script.silence()]);
    const count = test.provider.requests.length;
    const events = await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
    await test.provider.request(count + 1);
    await vi.waitUntil(async () => {
      await test.chat.service.flush(sessionId);
      return (await repliesOf(sessionId))[0]?.content === 'first, second';
    });
    await test.chat.service.stop(test.caller, sessionId);
    expect((await readAll(events)).at(-1)?.type).toBe('TurnStopped');
    expect(await repliesOf(sessionId)).toMatchObject([{ status: 'PARTIAL', content: 'first, second' }]);

    test.provider.enqueue(cut('third, '), [script.text('and'), script.cutFin]);
    expect((await follow(sessionId)).at(-1)?.type).toBe('TurnFailed');
    expect((await repliesOf(sessionId))[1]).toMatchObject({ status: 'PARTIAL', content: 'third, and' });
  });

  it('keeps what complete steps wrote, and no more, when its process is lost in the second', async () => {
    const sessionId = await test.createSession();
    test.provider.enqueue(cut('kept, '), [script.text('lost'), script.silence()]);
    const count = test.provider.requests.length;
    const events = await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
    await test.provider.request(count + 1);
    await vi.waitUntil(async () => {
      await test.chat.service.flush(sessionId);
      return (await repliesOf(sessionId))[0]?.content === 'kept, lost';
    });
    const requests = newRequests();
    test.provider.enqueue([script.text('found.'), script.finish(), usage]);
    await test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
    const other = test.another();
    await other.start();
    const told = await readAll(events);
    expect(told.at(-1)?.type).toBe('TurnCompleted');
    const again = told.slice(told.findLastIndex(({ type }) => type === 'TurnStarted'));
    expect(textOf(again)).toBe('kept, found.');
    expect(requests()[0]?.at(-2)).toMatchObject({ role: 'assistant', content: 'kept, ' });
    expect(await repliesOf(sessionId)).toMatchObject([{ status: 'COMPLETE', content: 'kept, found.' }]);
    await other.close(0);
  });
});

describe('a reply whose thinking wants to check it', () => {
  const draft = (text: string) => [
    script.thinking('17 × 23 is 381. I should double-check that.'),
    script.text(text),
    script.finish(),
    usage,
  ];

  it('is given one more step, and the answer is what that says', async () => {
    const sessionId = await test.createSession();
    const requests = newRequests();
    test.provider.enqueue(draft('It is 381.'), draft('It is 391.'));
    const events = await follow(sessionId, '17 × 23?');
    expect(steps(events).map(({ assessment }) => assessment.completed)).toEqual([false, false]);
    expect(await turnOf(sessionId)).toMatchObject({ status: 'COMPLETED', finish_reason: 'STOP', step: 2 });
    const replies = await repliesOf(sessionId);
    expect(replies.map(({ content }) => content)).toEqual(['It is 381.', 'It is 391.']);
    expect((await turnOf(sessionId)).final_message_id).toBe(replies[1].id);
    // What asks for the check is stored nowhere, and thinking is no history.
    expect(requests()[1]?.map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(JSON.stringify(requests()[1])).not.toContain('double-check');
    const roles = await test.rows('SELECT role FROM messages WHERE session_id = $1 ORDER BY sequence', sessionId);
    expect(roles.map(({ role }) => role)).toEqual(['USER', 'ASSISTANT', 'ASSISTANT']);
  });

  it('is the answer when no step is left', async () => {
    const sessionId = await test.createSession({ maxStepsPerTurn: 1 });
    test.provider.enqueue(draft('It is 381.'));
    await follow(sessionId);
    expect(await turnOf(sessionId)).toMatchObject({ status: 'COMPLETED', finish_reason: 'STOP', step: 1 });
  });
});
