import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gql } from '../clients/http.js';
import { codesOf, type Result } from '../clients/results.js';
import { openStream } from '../clients/sse.js';
import { rawSocket } from '../clients/ws.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ChatClient, chatClient } from '../support/client.js';
import * as documents from '../support/documents.js';
import * as script from '../support/script.js';

// Field report A76: everything is "unexpected error": a bad key, an unknown model, a rate limit, a used-up budget, a busy
// session, an object that is not there. Each has a code of its own here, the same over every transport.
let app: TestApp;
let client: ChatClient;
beforeAll(async () => {
  app = await startTestApp({ MODEL_MAX_RETRIES: '0' });
  client = chatClient(app.url);
});
afterAll(() => app.close());

const unknownSession = Buffer.from('ChatSession:01989f3e-0000-7000-8000-0123456789ab').toString('base64');

/** A fault: makes it ready, gives the session to send to and, for faults that last, what ends it. */
interface Prepared {
  readonly sessionId: string;
  readonly end?: () => Promise<unknown>;
}

const provoked: readonly [string, string, () => Promise<Prepared>][] = [
  [
    'the provider does not take our key',
    'PROVIDER_AUTH',
    async () => {
      app.provider.enqueue([script.httpError(401)]);
      return { sessionId: await client.createSession() };
    },
  ],
  [
    'the provider does not know the model',
    'PROVIDER_REFUSED',
    async () => {
      app.provider.enqueue([script.httpError(404)]);
      return { sessionId: await client.createSession() };
    },
  ],
  [
    'the provider limits our rate',
    'PROVIDER_RATE_LIMITED',
    async () => {
      app.provider.enqueue([script.httpError(429)]);
      return { sessionId: await client.createSession() };
    },
  ],
  [
    'the budget is used up',
    'BUDGET_EXCEEDED',
    async () => ({ sessionId: await client.createSession({ budget: { maxTokens: 0 } }) }),
  ],
  [
    'a turn is running',
    'TURN_IN_PROGRESS',
    async () => {
      const sessionId = await client.createSession();
      const gate = script.gate();
      app.provider.enqueue([script.pause(gate), script.reply('done')]);
      const running = client.send(sessionId, 'slow');
      await gate.reached;
      return {
        sessionId,
        end: () => {
          gate.open();
          return running;
        },
      };
    },
  ],
  ['there is no such session', 'NOT_FOUND', async () => ({ sessionId: unknownSession })],
];

type Send = (sessionId: string) => Promise<Result>;

const message = 'hello';
const overHttp: Send = (sessionId) => client.trySend(sessionId, message);

const overSse: Send = async (sessionId) => {
  const stream = await openStream(`${app.url}/graphql`, documents.stream, { input: { sessionId, message } });
  const results = (await stream.rest()).filter(({ event }) => event === 'next');
  return JSON.parse(results.at(-1)?.data ?? '{}') as Result;
};

const overWebSocket: Send = async (sessionId) => {
  const socket = await rawSocket(`${app.url}/graphql`);
  await socket.init();
  socket.subscribe('one', documents.stream, { input: { sessionId, message } });
  let result: Result = {};
  for (let frame = await socket.receiveFor('one'); frame !== null; frame = await socket.receiveFor('one')) {
    if (frame.type === 'next') result = frame.payload;
    if (frame.type === 'error') result = { errors: frame.payload };
    if (frame.type !== 'next') break;
  }
  await socket.close();
  return result;
};

/** Refusals are errors of the operation; a turn that was accepted and failed ends with an event over a stream. */
const seenCode = (result: Result): unknown => {
  const event = Object.values(result.data ?? {})[0] as { error?: { code: string } } | undefined;
  return codesOf(result)[0] ?? event?.error?.code;
};
const seenMessage = (result: Result): string => {
  const event = Object.values(result.data ?? {})[0] as { error?: { message: string } } | undefined;
  return result.errors?.[0]?.message ?? event?.error?.message ?? '';
};

describe('when', () => {
  const ways: readonly [string, Send][] = [
    ['send over HTTP', overHttp],
    ['stream over SSE', overSse],
    ['stream over WebSocket', overWebSocket],
  ];
  const cases = provoked.flatMap(([what, code, prepare]) =>
    ways.map(([way, send]) => [what, way, code, prepare, send] as const),
  );
  it.each(cases)('%s, %s says so by the code %s', async (_what, _way, code, prepare, send) => {
    const { sessionId, end } = await prepare();
    const result = await send(sessionId);
    await end?.();
    expect(seenCode(result)).toBe(code);
    expect(seenMessage(result)).toMatch(/\w+.*\./);
    expect(seenMessage(result)).not.toMatch(/unexpected|something went wrong/i);
  });

  it('any of them happened, the sentences differ as the codes do', async () => {
    const messages: string[] = [];
    for (const [, , prepare] of provoked) {
      const { sessionId, end } = await prepare();
      messages.push(seenMessage(await overHttp(sessionId)));
      await end?.();
    }
    expect(new Set(messages).size).toBe(provoked.length);
  });

  it('a turn had failed, its code can be read afterwards', async () => {
    const sessionId = await client.createSession();
    app.provider.enqueue([script.httpError(401)], [script.httpError(429)]);
    await client.trySend(sessionId, 'one');
    await client.trySend(sessionId, 'two');
    const { turns } = await client.session(sessionId);
    expect(turns.nodes.map((turn: { error: unknown }) => turn.error)).toEqual([
      { code: 'PROVIDER_AUTH', retryable: false },
      { code: 'PROVIDER_RATE_LIMITED', retryable: true },
    ]);
  });

  it('a model is chosen that is not offered, creating says which ones are', async () => {
    const refused = await client.run(documents.createSession, { input: { model: 'no-such-model' } });
    expect(codesOf(refused)).toEqual(['BAD_USER_INPUT']);
    expect(refused.errors?.[0]?.message).toContain('scripted');
  });
});

describe('when callers are authenticated', () => {
  const secret = 'a secret of a test that is long enough';
  let closed: TestApp;
  beforeAll(async () => {
    closed = await startTestApp({ AUTH_JWT_SECRET: secret });
  });
  afterAll(() => closed.close());
  const token = (end: string) =>
    new SignJWT({ sub: 'ada' })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt()
      .setExpirationTime(end)
      .sign(new TextEncoder().encode(secret));

  it('no token, a bad one and an old one are UNAUTHENTICATED, and a good one is not', async () => {
    const ask = async (headers: Record<string, string>) => {
      const answer = await gql(`${closed.url}/graphql`, '{ viewer { id } }', undefined, { headers });
      return [answer.status, codesOf(answer.body)[0] ?? answer.body.data?.viewer.id];
    };
    expect(await ask({})).toEqual([401, 'UNAUTHENTICATED']);
    expect(await ask({ authorization: 'Bearer nonsense' })).toEqual([401, 'UNAUTHENTICATED']);
    expect(await ask({ authorization: `Bearer ${await token('-1m')}` })).toEqual([401, 'UNAUTHENTICATED']);
    expect(await ask({ authorization: `Bearer ${await token('1m')}` })).toEqual([200, 'ada']);
  });
});

describe('every code that a client met', () => {
  it('is a value of ErrorCode, with a description', async () => {
    const { data } = await client.run('{ __type(name: "ErrorCode") { enumValues { name description } } }');
    const known = new Map(
      data.__type.enumValues.map(({ name, description }: { name: string; description: string }) => [name, description]),
    );
    for (const code of [...provoked.map(([, name]) => name), 'UNAUTHENTICATED', 'BAD_USER_INPUT']) {
      expect(known.get(code), code).toMatch(/\w+/);
    }
  });
});
