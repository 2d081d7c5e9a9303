import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { encodeCursor } from '../../../src/events/cursor.js';
import type { TurnEvent } from '../../../src/events/event.js';
import { codeOf, readAll, startTestChat, type TestChat } from '../../support/chat.js';
import { failingOnce } from '../../support/failing-statement.js';
import * as script from '../../support/script.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
  await test.chat.start();
});
afterAll(() => test.close());

const expireLease = (sessionId: string) =>
  test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
const turnOf = async (sessionId: string) =>
  (await test.rows('SELECT status FROM turns WHERE session_id = $1', sessionId))[0] as { status: string };
const repliesOf = (sessionId: string) =>
  test.rows("SELECT status, content FROM messages WHERE session_id = $1 AND role = 'ASSISTANT'", sessionId);
const tell = (events: readonly TurnEvent[]) => events.map((event) => ('delta' in event ? event.delta : event.type));

/** A turn whose provider has fallen silent after these steps. */
async function startSilentTurn(sessionId: string, steps: script.Script) {
  const count = test.provider.requests.length;
  test.provider.enqueue([...steps, script.silence()]);
  const events = await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
  await test.provider.request(count);
  return { events };
}

describe('a turn whose process or connection is lost', () => {
  it('goes on in one other process, anew from its last stored step, and books the lost call by an estimate', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    const first = await startSilentTurn(sessionId, [script.text('half a rep')]);
    await vi.waitUntil(async () => {
      await service.flush(sessionId);
      return (await repliesOf(sessionId)).length === 1;
    });
    const others = [test.another(), test.another()];
    test.provider.enqueue(script.reply('a whole reply'));
    await expireLease(sessionId);
    await Promise.all(others.map((other) => other.start()));
    const seen = await readAll(first.events);
    expect(tell(seen)).toEqual([
      'TurnStarted',
      'ContextReported',
      'half a rep',
      'TurnStarted',
      'ContextReported',
      'a whole reply',
      'StepCompleted',
      'TurnCompleted',
    ]);
    expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map(({ sequence }) => sequence).sort((a, b) => a - b));
    expect(await test.rows('SELECT status, lease_epoch, attempts FROM turns WHERE session_id = $1', sessionId)).toEqual(
      [{ status: 'COMPLETED', lease_epoch: 2, attempts: 2 }],
    );
    expect(await repliesOf(sessionId)).toEqual([{ status: 'COMPLETE', content: 'a whole reply' }]);
    expect(
      await test.rows(
        'SELECT status, usage_estimated, output_tokens > 0 AS output FROM model_calls WHERE session_id = $1 ORDER BY id',
        sessionId,
      ),
    ).toEqual([
      { status: 'FAILED', usage_estimated: true, output: true },
      { status: 'SUCCEEDED', usage_estimated: false, output: true },
    ]);
    await service.send(test.caller, { sessionId, message: 'again' });
    expect(test.provider.violations).toEqual([]);
  });

  it('is given up after three owners, with what the last of them had stored', async () => {
    const sessionId = await test.createSession();
    const first = await startSilentTurn(sessionId, [script.text('first')]);
    for (const words of ['second', 'third']) {
      const count = test.provider.requests.length;
      test.provider.enqueue([script.text(words), script.silence()]);
      const owner = test.another();
      await expireLease(sessionId);
      await owner.start();
      await test.provider.request(count);
      await vi.waitUntil(async () => {
        await owner.service.flush(sessionId);
        return (await repliesOf(sessionId))[0]?.content === words;
      });
    }
    await expireLease(sessionId);
    await test.another().start();
    const seen = await readAll(first.events);
    expect(tell(seen).slice(-3)).toEqual(['TurnStarted', 'third', 'TurnFailed']);
    expect(seen.at(-1)).toMatchObject({ code: 'INTERRUPTED', retryable: true });
    expect(await repliesOf(sessionId)).toEqual([{ status: 'PARTIAL', content: 'third' }]);
  });

  it('changes nothing any more when its paused owner wakes up', async () => {
    const sessionId = await test.createSession();
    const gate = script.gate();
    const first = await startSilentTurn(sessionId, [
      script.text('old words'),
      script.pause(gate),
      script.reply('and more'),
    ]);
    test.provider.enqueue(script.reply('new words'));
    await expireLease(sessionId);
    const other = test.another();
    await other.start();
    await vi.waitUntil(async () => (await turnOf(sessionId)).status === 'COMPLETED');
    gate.open();
    expect(tell(await readAll(first.events)).slice(-5)).toEqual([
      'TurnStarted',
      'ContextReported',
      'new words',
      'StepCompleted',
      'TurnCompleted',
    ]);
    expect(await repliesOf(sessionId)).toEqual([{ status: 'COMPLETE', content: 'new words' }]);
  });

  it('is not taken for abandoned by its own process when the answer to its acceptance comes late', async () => {
    // A database of its own: other processes may well take the turn.
    const alone = await startTestChat();
    const sessionId = await alone.createSession();
    const late = script.gate();
    const pool = Object.create(alone.database.pool, {
      query: {
        value: async (config: { name?: string }, ...rest: unknown[]) => {
          const result = await (alone.database.pool.query as (...args: unknown[]) => Promise<unknown>)(config, ...rest);
          if (config.name === 'accept-turn') {
            late.markReached();
            await late.opened;
          }
          return result;
        },
      },
    });
    const slow = alone.another({ database: { ...alone.database, pool } });
    const sending = slow.service.send(alone.caller, { sessionId, message: 'patience' });
    await late.reached;
    await alone.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
    await slow.start();
    late.open();
    await sending;
    expect(await alone.rows('SELECT status, lease_epoch FROM turns WHERE session_id = $1', sessionId)).toEqual([
      { status: 'COMPLETED', lease_epoch: 1 },
    ]);
    await alone.close();
  });

  it('shows its start to a follower in another process before the model has said a word', async () => {
    const sessionId = await test.createSession();
    const count = test.provider.requests.length;
    test.provider.enqueue([script.silence()]);
    const live = await test.chat.service.stream(test.caller, { sessionId, message: 'anybody?' });
    const started = (await live.next()).value;
    await test.provider.request(count);
    const elsewhere = await test.another().service.turnEvents(test.caller, started?.turnId ?? '');
    expect((await elsewhere.next()).value).toEqual(started);
    await elsewhere.return?.();
    await test.chat.service.stop(test.caller, sessionId);
  });

  it('is told anew to whoever comes back with a cursor of the process that died', async () => {
    for (const told of [[], [script.text('I')], [script.thinking('Hm')], [script.text('Hello world')]]) {
      const sessionId = await test.createSession();
      const { events } = await startSilentTurn(sessionId, told);
      const seen = [(await events.next()).value];
      seen.push((await events.next()).value);
      if (told.length > 0) seen.push((await events.next()).value);
      // Nothing of it was flushed. The dead process is played by one whose lease has run out.
      test.provider.enqueue(script.reply('Good day'));
      await expireLease(sessionId);
      const other = test.another();
      await other.start();
      for (const event of seen) {
        if (!event) throw new Error('nothing was told');
        const cursor = encodeCursor(event, event.sequence);
        const again = await readAll(await other.service.turnEvents(test.caller, event.turnId, cursor));
        expect(tell(again)).toEqual(['TurnStarted', 'ContextReported', 'Good day', 'StepCompleted', 'TurnCompleted']);
      }
      await events.return?.();
    }
  });

  it('goes on a month later', async () => {
    const sessionId = await test.createSession();
    const { events } = await startSilentTurn(sessionId, []);
    await test.rows("UPDATE turns SET lease_expires_at = now() - interval '30 days' WHERE session_id = $1", sessionId);
    await test.rows("UPDATE model_calls SET created_at = now() - interval '30 days' WHERE session_id = $1", sessionId);
    await test.another().start();
    expect(tell(await readAll(events)).at(-1)).toBe('TurnCompleted');
  });

  it('is never counted twice when the answer to a flush is lost', async () => {
    const sessionId = await test.createSession();
    const { database, hasFailed } = failingOnce(test.database, 'flush-reply', 'answer lost');
    const { service } = test.another({ database });
    const gate = script.gate();
    test.provider.enqueue([
      script.text('one '),
      script.pause(gate),
      script.text('two'),
      script.finish('stop'),
      script.usage({ prompt: 1, completion: 2 }),
    ]);
    const events = await service.stream(test.caller, { sessionId, message: 'count' });
    for await (const event of events) if (event.type === 'TextDelta') break;
    await service.flush(sessionId);
    await service.flush(sessionId);
    const { turnId } = (
      await test.rows('SELECT active_turn_id AS "turnId" FROM chat_sessions WHERE id = $1', sessionId)
    )[0];
    const rest = await service.turnEvents(test.caller, turnId);
    gate.open();
    await readAll(rest);
    expect(hasFailed()).toBe(true);
    expect(
      await test.rows('SELECT message_count, last_message_sequence FROM chat_sessions WHERE id = $1', sessionId),
    ).toEqual([{ message_count: 2, last_message_sequence: 2 }]);
  });

  it('answers with its stored end when the answer to its settling is lost', async () => {
    const sessionId = await test.createSession();
    const { database, hasFailed } = failingOnce(test.database, 'settle-turn', 'answer lost');
    const { service } = test.another({ database });
    const { turnId } = await service.send(test.caller, { sessionId, message: 'paid once' });
    expect(hasFailed()).toBe(true);
    expect(await test.rows('SELECT status FROM turns WHERE id = $1', turnId)).toEqual([{ status: 'COMPLETED' }]);
  });

  it('is always booked, however a deletion meets its start', async () => {
    const { service } = test.chat;
    test.provider.onRequest(() => [script.thinking('Hm'), script.silence()]);
    await Promise.all(
      Array.from({ length: 60 }, async () => {
        const sessionId = await test.createSession();
        const sending = codeOf(service.send(test.caller, { sessionId, message: 'race' }));
        await service.deleteSession(test.caller, sessionId);
        expect(['OK', 'NOT_FOUND']).toContain(await sending);
      }),
    );
    test.provider.onRequest(() => undefined);
    expect(
      await test.rows("SELECT count(*)::int AS n FROM model_calls WHERE status = 'PENDING' AND session_id IS NULL"),
    ).toEqual([{ n: 0 }]);
  });
});
