import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gql } from '../clients/http.js';
import { codesOf, type Result } from '../clients/results.js';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient, openTurn, textOf } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runSql } from '../support/database-server.js';
import * as documents from '../support/documents.js';
import * as script from '../support/script.js';
import { type SecondApp, startSecondApp } from '../support/second-app.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

// Field report A65: a throw in a subscription takes the process down: an unknown session, missing rights, a database
// that is off, over both transports.
const faults: unknown[] = [];
const note = (fault: unknown) => faults.push(fault);
beforeAll(() => {
  process.on('unhandledRejection', note);
  process.on('uncaughtExceptionMonitor', note);
});
afterAll(() => {
  process.off('unhandledRejection', note);
  process.off('uncaughtExceptionMonitor', note);
});

async function expectNoFault() {
  await new Promise(setImmediate);
  expect(faults).toEqual([]);
}

const unknown = (type: string) => Buffer.from(`${type}:01989f3e-0000-7000-8000-0123456789ab`).toString('base64');

type Subscribe = (url: string, document: string, variables: Record<string, unknown>, token?: string) => Promise<Result>;

/** The first thing that a subscription says: a result, or the errors that it was refused with. */
const overWebSocket: Subscribe = async (url, query, variables, token) => {
  const socket = await rawSocket(`${url}/graphql`);
  const acknowledged = await socket.init(token === undefined ? undefined : { authorization: `Bearer ${token}` });
  if (acknowledged === null) {
    const { code } = await socket.closed;
    return { errors: [{ message: '', extensions: { code: `socket closed with ${code}` } }] };
  }
  socket.subscribe('1', query, variables);
  const frame = await socket.receiveFor('1');
  await socket.close();
  return frame?.type === 'error' ? { errors: frame.payload } : (frame?.payload ?? {});
};

const overSse: Subscribe = async (url, query, variables, token) => {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const stream = await openStream(`${url}/graphql`, query, variables, headers);
  if (!String(stream.headers['content-type']).startsWith('text/event-stream')) {
    stream.drop();
    return { errors: [{ message: '', extensions: { code: `status ${stream.status}` } }] };
  }
  const result = await stream.nextResult();
  stream.drop();
  return result;
};

const transports = [
  ['WebSocket', overWebSocket],
  ['SSE', overSse],
] as const;

describe.each(transports)('over %s, a subscription', (name, subscribe) => {
  const secret = 'a secret of a test that is long enough';
  let app: TestApp;
  const tokenOf = (sub: string) =>
    new SignJWT({ sub }).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
  beforeAll(async () => {
    app = await startTestApp({ AUTH_JWT_SECRET: secret });
  });
  afterAll(() => app.close());

  it('to what is not there, not his, or not an id is refused, and the server goes on', async () => {
    const [ada, ben] = await Promise.all([tokenOf('ada'), tokenOf('ben')]);
    const headers = { authorization: `Bearer ${ada}` };
    const run = async (document: string, variables: Record<string, unknown>) =>
      (await gql(`${app.url}/graphql`, document, variables, { headers })).body;
    const sessionId = (await run(documents.createSession, { input: {} })).data.createChatSession.id;
    const turnId = (await run(documents.send, { input: { sessionId, message: 'hello' } })).data.send.turn.id;
    const requests = app.provider.requests.length;
    const to = (input: Record<string, unknown>) => [documents.stream, { input: { message: 'x', ...input } }] as const;
    const cases = [
      [to({ sessionId: unknown('ChatSession') }), ada, 'NOT_FOUND'],
      [to({ sessionId }), ben, 'NOT_FOUND'],
      [[documents.turnEvents, { turnId: unknown('Turn') }], ada, 'NOT_FOUND'],
      [[documents.turnEvents, { turnId }], ben, 'NOT_FOUND'],
      [to({ sessionId: '' }), ada, 'BAD_USER_INPUT'],
      [[documents.turnEvents, { turnId: '\0' }], ada, 'BAD_USER_INPUT'],
      [[documents.turnEvents, { turnId, after: '\ud800' }], ada, 'BAD_USER_INPUT'],
      [to({ sessionId, message: '\0' }), ada, 'BAD_USER_INPUT'],
    ] as const;
    for (const [operation, token, code] of cases) {
      expect(codesOf(await subscribe(app.url, operation[0], operation[1], token))).toEqual([code]);
    }
    const withoutToken = codesOf(await subscribe(app.url, documents.turnEvents, { turnId }));
    expect(withoutToken).toEqual([name === 'SSE' ? 'status 401' : 'socket closed with 4401']);
    expect(app.provider.requests).toHaveLength(requests);
    expect((await run(documents.session, { id: sessionId })).data.chatSession.turnCount).toBe(1);
    await expectNoFault();
  });
});

describe('when the database goes away', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  /** The server whose database goes away, and another one that keeps it. */
  let app: TestApp;
  let steady: SecondApp;
  let client: ChatClient;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
    app = await startTestApp({ DATABASE_URL: proxy.url });
    steady = await startSecondApp({ provider: app.provider, database });
    client = chatClient(app.url);
  });
  afterAll(async () => {
    await proxy.mend();
    await steady.close();
    await app.close();
    await proxy.close();
    await database.drop();
  });

  it.each(transports)(
    'over %s, a new subscription is UNAVAILABLE, and works when it is back',
    async (_name, subscribe) => {
      const sessionId = await client.createSession();
      const { turn } = await client.send(sessionId, 'before');
      const requests = app.provider.requests.length;
      await proxy.cut();
      const input = { sessionId, message: 'now' };
      for (const [document, variables] of [
        [documents.stream, { input }],
        [documents.turnEvents, { turnId: turn.id }],
      ] as const) {
        const refused = await subscribe(app.url, document, variables);
        expect(codesOf(refused)).toEqual(['UNAVAILABLE']);
        expect(refused.errors?.[0]?.extensions).toMatchObject({ retryable: true, requestId: expect.any(String) });
        expect(JSON.stringify(refused)).not.toMatch(/ECONN|127\.0\.0\.1|postgres|pool|at .*\.(ts|js)/i);
      }
      await proxy.mend();
      expect(app.provider.requests).toHaveLength(requests);
      expect(textOf(await openTurn(app.url, 'ws', sessionId, 'again').rest())).toBe('echo: again');
      expect((await client.session(sessionId)).turnCount).toBe(2);
      await expectNoFault();
    },
  );

  it.each(['ws', 'sse'] as const)(
    'over %s, a turn that runs goes on, and its end is stored when it is back',
    async (transport) => {
      const sessionId = await client.createSession();
      const [middle, end] = [script.gate(), script.gate()];
      app.provider.enqueue([
        [script.text('before, '), script.pause(middle), script.text('meanwhile, '), script.pause(end)],
        [script.text('after'), script.finish('stop'), script.usage({ prompt: 5, completion: 6 })],
      ]);
      const turn = openTurn(app.url, transport, sessionId, 'tell');
      await turn.until(({ delta }) => delta === 'before, ');
      await proxy.cut();
      middle.open();
      await turn.until(({ delta }) => delta === 'meanwhile, ');
      end.open();
      await app.waitForLog('end of turn could not be stored yet');
      await proxy.mend();
      const last = (await turn.rest()).at(-1);
      expect(last).toMatchObject({ __typename: 'TurnCompleted', response: { content: 'before, meanwhile, after' } });
      expect(await client.session(sessionId)).toMatchObject({ turnCount: 1, totalTokens: 11, activeTurn: null });
      await expectNoFault();
    },
  );

  it('a follower of another server’s turn goes on when it is back, and so do its neighbours on the socket', async () => {
    const there = chatClient(steady.url);
    const [foreign, own] = [await client.createSession(), await client.createSession()];
    const gate = script.gate();
    app.provider.enqueue([script.text('far'), script.silence()]);
    const asked = app.provider.request(app.provider.requests.length);
    const { turnId } = await openTurn(steady.url, 'ws', foreign, 'run there').next();
    await asked;
    app.provider.enqueue([script.text('near'), script.pause(gate), script.finish('stop')]);
    const socket = await rawSocket(`${app.url}/graphql`);
    await socket.init();
    socket.subscribe('far', documents.turnEvents, { turnId });
    socket.subscribe('near', documents.stream, { input: { sessionId: own, message: 'run here' } });
    await gate.reached;
    expect((await socket.receiveFor('far'))?.payload.data.turnEvents.__typename).toBe('TurnStarted');
    await proxy.cut();
    await proxy.mend();
    gate.open();
    let last = await socket.receiveFor('near');
    while (last?.type === 'next' && last.payload.data.stream.__typename !== 'TurnCompleted') {
      expect(last.payload.errors).toBeUndefined();
      last = await socket.receiveFor('near');
    }
    expect(last?.payload.data.stream.response.content).toBe('near');
    await there.stop(foreign);
    let frame = await socket.receiveFor('far');
    while (frame?.type === 'next' && frame.payload.data.turnEvents.__typename !== 'TurnStopped') {
      expect(frame.payload.errors).toBeUndefined();
      frame = await socket.receiveFor('far');
    }
    expect(frame?.payload.data.turnEvents.response.content).toBe('far');
    expect((await socket.receiveFor('far'))?.type).toBe('complete');
    await socket.close();
    await expectNoFault();
  });

  it('leaves no more connections behind than there were, and no turn that never ends', async () => {
    const { rows } = await runSql<{ active: number }>(
      database.url,
      'SELECT count(*)::int AS active FROM chat_sessions WHERE active_turn_id IS NOT NULL',
    );
    expect(rows[0]?.active).toBe(0);
    await expect
      .poll(async () => {
        const { rows: found } = await runSql<{ count: number }>(
          database.url,
          `SELECT count(*)::int AS count FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'chatsession' AND state <> 'idle'`,
        );
        return found[0]?.count;
      })
      .toBe(0);
  });
});
