import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { redisLimits } from '../../../src/events/redis/deadline.js';
import { newId } from '../../../src/ids.js';
import {
  type Collected,
  collectBatches,
  numbered,
  openConnectedFeed,
  openFeed,
  patience,
  type TestFeed,
} from '../../support/feeds.js';
import { connectRedis, findRedisServer, type RedisServer, startRedisServer } from '../../support/redis-server.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are in use. */
function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const canStart = await findRedisServer();

describe.skipIf(!canStart)('a feed whose Redis fails', () => {
  let server: RedisServer;
  const closing: TestFeed[] = [];
  const namespace = 'outage';

  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((feed) => feed.close()));
    await server.close();
  });

  async function open(limits = redisLimits) {
    const feed = await openConnectedFeed({ url: server.url, namespace, limits });
    closing.push(feed);
    return feed;
  }

  const messages = ({ lines }: TestFeed) => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);

  /** Publishes stretches of a turn, from the nth on, until each of those who watch it was told one of them. */
  async function publishUntilTold(owner: TestFeed, turnId: string, n: number, all: Collected[]): Promise<void> {
    for (let next = n; all.some(({ batches }) => (batches.at(-1)?.from ?? 0) < numbered(turnId, n).from); next += 1) {
      owner.publish(numbered(turnId, next));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const outages = [
    { name: 'is frozen', begin: async () => server.freeze(), end: async () => server.thaw() },
    { name: 'is killed and comes back empty', begin: () => server.kill(), end: () => server.start() },
  ];

  test.each(outages)(
    'nobody waits while Redis $name, and it goes on afterwards',
    { timeout: 30_000 },
    async (outage) => {
      const owner = await open();
      const other = await open();
      const turnId = newId();
      const told = collectBatches();
      other.watch(turnId, told.onBatch);
      await publishUntilTold(owner, turnId, 0, [told]);

      for (const feed of [owner, other]) feed.forgetLog();
      await outage.begin();
      const begun = performance.now();
      for (let n = 1_000; n < 2_000; n += 1) {
        owner.publish(numbered(turnId, n));
        owner.signal({ kind: 'turn', turnId: `${n}` });
      }
      expect(performance.now() - begun).toBeLessThan(500);
      await Promise.all([owner.waitForLog('Redis is away'), other.waitForLog('Redis is away')]);
      expect(performance.now() - begun).toBeLessThan(2_500);
      const late = collectBatches();
      other.watch(turnId, late.onBatch);
      const third = openFeed({ url: server.url, namespace });
      third.publish(numbered(turnId, 0));
      await third.waitForLog('Redis is away');
      const closeBegun = performance.now();
      await third.close();
      expect(performance.now() - closeBegun).toBeLessThan(1_000);

      await outage.end();
      await publishUntilTold(owner, turnId, 2_000, [told, late]);
      await Promise.all([owner.waitForLog('processes again'), other.waitForLog('processes again')]);
      for (const feed of [owner, other]) {
        expect(messages(feed)).toEqual([
          expect.stringMatching(/^Redis is away/),
          'Redis carries events between processes again',
        ]);
      }
      const numbers = told.numbers();
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    },
  );

  test('closing is bounded while Redis is frozen and something is on its way', async () => {
    const owner = await open();
    server.freeze();
    owner.publish(numbered(newId(), 0));
    const begun = performance.now();
    await owner.close();
    expect(performance.now() - begun).toBeLessThan(1_500);
  });

  test('a process starts without Redis and uses it once it is there', { timeout: 30_000 }, async () => {
    await server.kill();
    const [owner, other] = [openFeed({ url: server.url, namespace }), openFeed({ url: server.url, namespace })];
    closing.push(owner, other);
    const turnId = newId();
    const told = collectBatches();
    other.watch(turnId, told.onBatch);
    await Promise.all([owner.waitForLog('Redis is away'), other.waitForLog('Redis is away')]);
    await server.start();
    await publishUntilTold(owner, turnId, 0, [told]);
  });

  test('20,000 batches reach a watcher whose connection is killed again and again', { timeout: 60_000 }, async () => {
    const owner = await open(patience);
    const operator = await connectRedis(server.url);
    const readers = async () =>
      [
        ...(await operator.sendCommand<string>(['CLIENT', 'LIST'])).matchAll(/^id=(\d+) .*name=chatsession-reading/gm),
      ].map(([, id]) => String(id));
    const ownersReader = await readers();
    const other = await open(patience);
    const turnId = newId();
    const told = collectBatches();
    other.watch(turnId, told.onBatch);
    for (let n = 0; n < 20_000; n += 1) {
      owner.publish(numbered(turnId, n));
      if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (n % 4_000 !== 2_000) continue;
      await told.until(n);
      for (const id of (await readers()).filter((reader) => !ownersReader.includes(reader))) {
        await operator.sendCommand(['CLIENT', 'KILL', 'ID', id]);
      }
    }
    await told.until(19_999);
    expect(told.numbers()).toEqual(Array.from({ length: 20_000 }, (_, n) => n));
    await other.waitForLog('processes again');
    operator.destroy();
  });

  /** Publishes about 50 MB in 500 batches; gives by how much this process has grown, in bytes. */
  async function publishMuch(owner: TestFeed): Promise<number> {
    const { events, ...rest } = numbered(newId(), 0);
    const big = { ...rest, events: Array(1_000).fill(events[0]) };
    const before = memory();
    for (let n = 0; n < 500; n += 1) {
      owner.publish(big);
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return memory() - before;
  }

  const droppedOf = (feed: TestFeed) =>
    JSON.parse(feed.lines.find((line) => line.includes('processes again')) ?? '{}').dropped;

  test('what a frozen Redis does not take is dropped and counted, not kept', { timeout: 30_000 }, async () => {
    const owner = await open();
    owner.forgetLog();
    server.freeze();
    expect(await publishMuch(owner)).toBeLessThan(25e6);
    await owner.waitForLog('Redis is away');
    server.thaw();
    await owner.waitForLog('processes again');
    // The first of it may have been taken before it froze.
    expect(droppedOf(owner)).toBeGreaterThan(400);
    expect(droppedOf(owner)).toBeLessThanOrEqual(500);
  });

  test('little waits for a Redis that is too slow, the rest is dropped', { timeout: 30_000 }, async () => {
    const owner = await open(patience);
    owner.forgetLog();
    server.freeze();
    expect(await publishMuch(owner)).toBeLessThan(25e6);
    await owner.waitForLog('buffer full');
    server.thaw();
    await owner.waitForLog('processes again');
    expect(droppedOf(owner)).toBeGreaterThan(400);
    expect(droppedOf(owner)).toBeLessThan(500);
  });

  test('lets go of its connections when it is closed', async () => {
    const feeds = [await open(), await open()];
    const operator = await connectRedis(server.url);
    const connections = async () =>
      (await operator.sendCommand<string>(['CLIENT', 'LIST']))
        .split('\n')
        .filter((line) => / name=chatsession-/.test(line));
    expect(await connections()).toHaveLength(4);
    await Promise.all(feeds.map((feed) => feed.close()));
    await expect.poll(connections).toEqual([]);
    operator.destroy();
  });

  test('a user with the rights that docs/deploy.md names can do all of it', async () => {
    const operator = await connectRedis(server.url);
    const text = await readFile(new URL('../../../docs/deploy.md', import.meta.url), 'utf8');
    const rights = /needs `(\+@connection[^`]*)` on the keys `([^`]*)`/.exec(text) ?? [];
    const rules = ['on', '>secret', `~${rights[2]}`, ...String(rights[1]).split(' ')];
    await operator.sendCommand(['ACL', 'SETUSER', 'chat', ...rules]);
    const url = server.url.replace('//', '//chat:secret@');
    const [owner, other] = [openFeed({ url, namespace }), openFeed({ url, namespace })];
    closing.push(owner, other);
    const turnId = newId();
    const told = collectBatches();
    other.watch(turnId, told.onBatch);
    await publishUntilTold(owner, turnId, 0, [told]);
    operator.destroy();
  });

  test('a Redis that lets nobody in is told once, without the password', { timeout: 20_000 }, async () => {
    const operator = await connectRedis(server.url);
    await operator.sendCommand(['CONFIG', 'SET', 'requirepass', 'the-real-one']);
    const url = server.url.replace('//', '//default:a-wrong-secret@');
    const feed = openFeed({ url, namespace });
    closing.push(feed);
    await feed.waitForLog('Redis is away');
    const refused = async () =>
      Number(
        /cmdstat_hello:.*rejected_calls=\d+,failed_calls=(\d+)/.exec(await operator.info('commandstats'))?.[1] ?? 0,
      );
    await expect.poll(refused, { timeout: 10_000 }).toBeGreaterThan(5);
    expect(feed.lines).toHaveLength(1);
    expect(feed.lines.join()).toContain('WRONGPASS');
    expect(feed.lines.join()).not.toContain('a-wrong-secret');
    operator.destroy();
  });
});
