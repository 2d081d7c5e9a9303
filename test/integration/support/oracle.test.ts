import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { chatClient } from '../../support/client.js';
import { runSql } from '../../support/database-server.js';
import { canaryProblems } from '../../support/oracle/canaries.js';
import { followSession, followTurn, readEventsCursor, say, sayAndFollow } from '../../support/oracle/clients.js';
import { collectRun, untilAtRest } from '../../support/oracle/collect.js';
import { judge } from '../../support/oracle/judge.js';
import { holdings, leaks } from '../../support/oracle/leaks.js';
import { createRecorder, type Recorder } from '../../support/oracle/recorder.js';
import { lastUserText } from '../../support/provider.js';
import { gate, paced, pause, reply, text } from '../../support/script.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';

let app: TestApp;
let proxy: TcpProxy;
beforeAll(async () => {
  app = await startTestApp();
  proxy = await startTcpProxy(app.url);
});
afterAll(async () => {
  await proxy.close();
  await app.close();
});

const secret = 'canary-of-the-oracle-test';

/** Two sessions whose clients are cut again and again while they send and watch. */
async function unquietRun(recorder: Recorder): Promise<void> {
  const signal = AbortSignal.timeout(80_000);
  const client = chatClient(app.url);
  const options = { recorder, where: () => proxy.url, signal };
  app.provider.onRequest((request) =>
    paced(5, reply(`You said: ${lastUserText(request)}. Let me think about that.`, { chunks: 12 })),
  );
  const sessions = await Promise.all([1, 2].map(() => client.createSession()));
  // Enough for a few events, and a little more each time, so that every client gets on.
  proxy.onConnection((connection) => connection.cutAfter('toClient', 1_000 + 50 * connection.index));
  await Promise.all(
    sessions.map(async (id, at) => {
      const from = await readEventsCursor(options, id);
      const watching = followSession(
        { ...options, name: `session ${at}`, transport: 'sse' },
        { sessionId: id, from },
        3,
      );
      await sayAndFollow({ ...options, name: `ws ${at}`, transport: 'ws' }, id, `one ${at}, ${secret}`);
      const turnId = await sayAndFollow({ ...options, name: `sse ${at}`, transport: 'sse' }, id, `two ${at}`);
      await followTurn({ ...options, name: `again ${at}`, transport: 'ws' }, turnId);
      expect((await say(options, id, `three ${at}`)).code).toBe('OK');
      await watching;
    }),
  );
  proxy.onConnection(() => {});
}

describe('the oracle', { timeout: 90_000 }, () => {
  test('finds nothing in a run whose connections are cut, and every fault that is put into its rows', async () => {
    const recorder = createRecorder();
    await unquietRun(recorder);
    await untilAtRest(app.database);
    const collect = () => collectRun({ ...app, recorder });
    const run = await collect();
    expect(judge(run)).toEqual([]);
    expect(run.sessions.map(({ turns }) => turns.length)).toEqual([3, 3]);
    expect(run.watches.map(({ events }) => events.length > 2)).toEqual(Array(8).fill(true));
    expect(proxy.accepted).toBeGreaterThan(16);
    for (const [statement, rule] of [
      ["UPDATE messages SET content = content || '!' WHERE role = 'USER' AND content LIKE 'one 1%'", 'I1'],
      ["UPDATE turns SET status = 'STOPPED' WHERE number = 2", 'I2'],
      ["UPDATE messages SET content = overlay(content placing 'X' from 3) WHERE role = 'ASSISTANT'", 'I4'],
      ["UPDATE messages SET content = content || '!' WHERE role = 'ASSISTANT'", 'I5'],
      ['UPDATE budgets SET spent_tokens = spent_tokens + 1', 'I7'],
      ['DELETE FROM model_calls WHERE id = (SELECT min(id::text)::uuid FROM model_calls)', 'I7'],
      ['UPDATE turns SET attempts = 2 WHERE number = 3', 'I8'],
    ] as const) {
      await runSql(app.database.url, statement);
      expect(judge(await collect()).join('\n'), statement).toContain(`${rule}: `);
    }
  });

  test('finds where planted texts have spread to', async () => {
    const planted = { name: 'the user’s words', value: secret };
    const places = { database: app.database, log: app.logLines, events: [{ delta: 'nothing' }] };
    const inMessages = ['messages.content'];
    expect(await canaryProblems([planted], places)).toEqual(['I10: the user’s words is in messages.content']);
    expect(await canaryProblems([{ ...planted, allowedIn: inMessages }], places)).toEqual([]);
    expect(await canaryProblems([{ name: 'the key', value: 'sk-canary-provider-key-0123456789' }], places)).toEqual([]);
    const told = { ...places, log: ['{"msg":"canary-of-the-oracle-test"}'], events: { text: `oh, ${secret}` } };
    expect(await canaryProblems([{ ...planted, allowedIn: inMessages }], told)).toEqual([
      'I10: the user’s words is in log',
      'I10: the user’s words is in events',
    ]);
  });

  test('finds what a server has left open, and waits for what is being closed', async () => {
    const take = () => holdings(app.database);
    const before = await take();
    const { hostname, port } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    expect((await leaks(before, take, 0)).join()).toMatch(/TCP/i);
    const waiting = leaks(before, take);
    socket.destroy();
    expect(await waiting).toEqual([]);
  });
});

test('a message whose answer is lost is sent again under its key, and acknowledged once', {
  timeout: 30_000,
}, async () => {
  const recorder = createRecorder();
  const sessionId = await chatClient(app.url).createSession();
  const middle = gate();
  app.provider.enqueue([text('half'), pause(middle), reply(' and half')]);
  const requests = app.provider.requests.length;
  // What fetch has kept open would be none of the next connections.
  proxy.reset();
  let faulty = 1;
  proxy.onConnection((connection) => {
    if (faulty-- > 0) connection.loseAnswerTo('only once');
  });
  const options = { recorder, where: () => proxy.url, signal: AbortSignal.timeout(30_000) };
  const said = say(options, sessionId, 'only once');
  await middle.reached;
  middle.open();
  expect(await said).toMatchObject({ code: 'OK' });
  expect(faulty).toBeLessThan(0);
  expect(app.provider.requests).toHaveLength(requests + 1);
  expect(recorder.sent).toMatchObject([{ text: 'only once', acknowledgedAt: expect.any(Number) }]);
});
