import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient, openEvents, openTurn, textOf } from '../../support/client.js';
import { turnEvents } from '../../support/documents.js';
import { findRedis, findRedisServer, type RedisServer, startRedisServer } from '../../support/redis-server.js';
import * as script from '../../support/script.js';
import { type SecondApp, startSecondApp } from '../../support/second-app.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';

const redisUrl = await findRedis();
const hasServer = await findRedisServer();

/** What stands between the server that runs a turn and the one that is asked about it. */
const ways: readonly [string, boolean, () => Promise<{ url: string | null; spoil(): void; close(): Promise<void> }>][] =
  [
    ['without Redis', true, async () => ({ url: null, spoil() {}, close: async () => {} })],
    ['with Redis', redisUrl !== null, async () => ({ url: redisUrl, spoil() {}, close: async () => {} })],
    [
      'with a Redis that freezes',
      hasServer,
      async () => {
        const server: RedisServer = await startRedisServer();
        return { url: server.url, spoil: () => server.freeze(), close: () => server.close() };
      },
    ],
  ];

describe.each(ways)('a turn of another server, %s', (_how, isHere, open) => {
  let way: Awaited<ReturnType<typeof open>>;
  let app: TestApp;
  let second: SecondApp;
  let client: ChatClient;
  let elsewhere: ChatClient;
  beforeAll(async () => {
    if (!isHere) return;
    way = await open();
    const env: Record<string, string> = way.url === null ? {} : { REDIS_URL: way.url };
    app = await startTestApp(env);
    second = await startSecondApp(app, env);
    client = chatClient(app.url);
    elsewhere = chatClient(second.url);
    if (way.url !== null) await app.waitForLog('Redis');
    way.spoil();
  });
  afterAll(async () => {
    await second?.close();
    await app?.close();
    await way?.close();
  });

  it.runIf(isHere)('is followed as it is written, by all who watch, to the same end', async () => {
    const sessionId = await client.createSession();
    const gates = [script.gate(), script.gate()] as const;
    app.provider.enqueue([
      script.thinking('hm. '),
      script.text('one '),
      script.pause(gates[0]),
      script.text('two '),
      script.pause(gates[1]),
      script.reply('three'),
    ]);
    const turn = openTurn(app.url, 'ws', sessionId, 'count');
    const { turnId } = await turn.next();
    const watchers = (['ws', 'sse'] as const).map((transport) =>
      openEvents(second.url, transport, turnEvents, { turnId }),
    );
    // Each piece has to arrive before the next one is written.
    const seen = watchers.map(() => '');
    for (const [at, expected] of ['one ', 'one two '].entries()) {
      for (const [index, watcher] of watchers.entries()) {
        while (seen[index] !== expected) {
          const event = await watcher.next();
          if (event.__typename === 'TextDelta') seen[index] += event.delta;
        }
      }
      gates[at]?.open();
    }
    const rests = await Promise.all(watchers.map((watcher) => watcher.rest()));
    for (const rest of rests) {
      expect(textOf(rest)).toBe('three');
      expect(rest.at(-1)).toMatchObject({ __typename: 'TurnCompleted', response: { content: 'one two three' } });
    }
    await turn.rest();
  });

  it.runIf(isHere)('is stopped from there within a second, with its part kept', async () => {
    const sessionId = await client.createSession();
    const count = app.provider.requests.length;
    app.provider.enqueue([script.text('a part'), script.silence()]);
    const turn = openTurn(app.url, 'ws', sessionId, 'go on');
    await turn.until(({ __typename }) => __typename === 'TextDelta');
    const request = await app.provider.request(count);
    const stopped = await elsewhere.stop(sessionId);
    expect(stopped).toMatchObject({ status: 'STOPPED' });
    await request.hungUp;
    expect((await turn.rest()).at(-1)).toMatchObject({ __typename: 'TurnStopped', response: { content: 'a part' } });
    const { history } = await elsewhere.session(sessionId);
    expect(history[1]).toMatchObject({ content: 'a part', status: 'PARTIAL' });
    await elsewhere.send(sessionId, 'and now?');
    expect(app.provider.violations).toEqual([]);
  });
});

describe('Redis alone', () => {
  let app: TestApp;
  let second: SecondApp;
  let database: TcpProxy;
  beforeAll(async () => {
    if (redisUrl === null) return;
    app = await startTestApp({ REDIS_URL: redisUrl });
    database = await startTcpProxy(app.database.url);
    second = await startSecondApp(app, { REDIS_URL: redisUrl, DATABASE_URL: database.url });
  });
  afterAll(async () => {
    await database?.mend();
    await second?.close();
    await database?.close();
    await app?.close();
  });

  it.runIf(redisUrl !== null)('carries what is told while the database of the other server stands still', async () => {
    const sessionId = await chatClient(app.url).createSession();
    const gate = script.gate();
    app.provider.enqueue([script.text('before '), script.pause(gate), script.text('and '), script.reply('after')]);
    const turn = openTurn(app.url, 'ws', sessionId, 'tell');
    const { turnId } = await turn.next();
    const watcher = openEvents(second.url, 'ws', turnEvents, { turnId });
    await watcher.until(({ __typename }) => __typename === 'TextDelta');
    database.stall();
    gate.open();
    let text = 'before ';
    await watcher.until((event) => {
      text += event.delta ?? '';
      return text === 'before and after';
    });
    database.resume();
    expect((await watcher.rest()).at(-1)).toMatchObject({ __typename: 'TurnCompleted' });
    await turn.rest();
  });
});
