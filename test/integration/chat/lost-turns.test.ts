import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, readAll, startTestChat, type TestChat } from '../../support/chat.js';
import * as script from '../../support/script.js';

let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
});
afterAll(() => test.close());

/** A pool that carries a statement out once and then loses its answer, as a broken connection does. */
function losingAnswer(name: string) {
  let lost = 0;
  const query = async (config: { name?: string }, ...rest: unknown[]) => {
    const result = await (test.database.pool.query as (...args: unknown[]) => Promise<unknown>)(config, ...rest);
    if (config.name === name && lost === 0) {
      lost += 1;
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    }
    return result;
  };
  const pool = Object.create(test.database.pool, { query: { value: query } });
  return { database: { ...test.database, pool }, lost: () => lost };
}

describe('a turn whose process or connection is lost', () => {
  it('ends a turn whose process is gone as interrupted, once, with its text and an estimate', async () => {
    const sessionId = await test.createSession();
    const { service } = test.chat;
    const gate = script.gate();
    test.provider.enqueue([script.text('half a rep'), script.pause(gate)]);
    const events = await service.stream(test.caller, { sessionId, message: 'long' });
    await gate.reached;
    for await (const event of events) if (event.type === 'TextDelta') break;
    await service.flush(sessionId);
    await test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
    await Promise.all([test.another().start(), test.another().start()]);
    gate.open();
    expect(
      await test.rows('SELECT status, error_code, lease_epoch FROM turns WHERE session_id = $1', sessionId),
    ).toEqual([{ status: 'FAILED', error_code: 'INTERRUPTED', lease_epoch: 2 }]);
    expect(
      await test.rows(
        'SELECT status, content FROM messages WHERE session_id = $1 AND role = $2',
        sessionId,
        'ASSISTANT',
      ),
    ).toEqual([{ status: 'PARTIAL', content: 'half a rep' }]);
    expect(
      await test.rows(
        'SELECT status, usage_estimated, output_tokens > 0 AS output FROM model_calls WHERE session_id = $1',
        sessionId,
      ),
    ).toEqual([{ status: 'FAILED', usage_estimated: true, output: true }]);
    await service.send(test.caller, { sessionId, message: 'again' });
    expect(test.provider.violations).toEqual([]);
  });

  it('is not taken for abandoned by its own process when the answer to its acceptance comes late', async () => {
    const sessionId = await test.createSession();
    const late = script.gate();
    const pool = Object.create(test.database.pool, {
      query: {
        value: async (config: { name?: string }, ...rest: unknown[]) => {
          const result = await (test.database.pool.query as (...args: unknown[]) => Promise<unknown>)(config, ...rest);
          if (config.name === 'accept-turn') {
            late.markReached();
            await late.opened;
          }
          return result;
        },
      },
    });
    const slow = test.another({ database: { ...test.database, pool } });
    const sending = slow.service.send(test.caller, { sessionId, message: 'patience' });
    await late.reached;
    await test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
    await slow.start();
    late.open();
    await sending;
    expect(await test.rows('SELECT status, lease_epoch FROM turns WHERE session_id = $1', sessionId)).toEqual([
      { status: 'COMPLETED', lease_epoch: 1 },
    ]);
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

  it('is told anew, with its end, to whoever comes back with a cursor of the process that died', async () => {
    const { service } = test.chat;
    for (const told of [[], [script.text('I')], [script.thinking('Hm')], [script.text('Hello world')]]) {
      const sessionId = await test.createSession();
      const count = test.provider.requests.length;
      test.provider.enqueue([...told, script.silence()]);
      const events = await service.stream(test.caller, { sessionId, message: 'go' });
      const seen = [(await events.next()).value];
      if (told.length > 0) seen.push((await events.next()).value);
      await test.provider.request(count);
      // Nothing of it was flushed. The dead process is played by one whose lease has run out.
      await test.rows("UPDATE turns SET lease_expires_at = now() - interval '1 hour' WHERE session_id = $1", sessionId);
      await test.another().start();
      for (const event of seen) {
        const again = await readAll(
          await test.another().service.turnEvents(test.caller, event?.turnId ?? '', event?.cursor),
        );
        expect(again.map(({ type }) => type)).toEqual(['TurnStarted', 'TurnFailed']);
      }
      await events.return?.();
    }
  });

  it('is recovered a month later', async () => {
    const sessionId = await test.createSession();
    const count = test.provider.requests.length;
    test.provider.enqueue([script.silence()]);
    const events = await test.chat.service.stream(test.caller, { sessionId, message: 'go' });
    await test.provider.request(count);
    await test.rows("UPDATE turns SET lease_expires_at = now() - interval '30 days' WHERE session_id = $1", sessionId);
    await test.rows("UPDATE model_calls SET created_at = now() - interval '30 days' WHERE session_id = $1", sessionId);
    await test.another().start();
    expect(await test.rows('SELECT status FROM turns WHERE session_id = $1', sessionId)).toEqual([
      { status: 'FAILED' },
    ]);
    await events.return?.();
  });

  it('is never counted twice when the answer to a flush is lost', async () => {
    const sessionId = await test.createSession();
    const { database, lost } = losingAnswer('flush-reply');
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
    expect(lost()).toBe(1);
    expect(
      await test.rows('SELECT message_count, last_message_sequence FROM chat_sessions WHERE id = $1', sessionId),
    ).toEqual([{ message_count: 2, last_message_sequence: 2 }]);
  });

  it('answers with its stored end when the answer to its settling is lost', async () => {
    const sessionId = await test.createSession();
    const { database, lost } = losingAnswer('settle-turn');
    const { service } = test.another({ database });
    const { turnId } = await service.send(test.caller, { sessionId, message: 'paid once' });
    expect(lost()).toBe(1);
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
