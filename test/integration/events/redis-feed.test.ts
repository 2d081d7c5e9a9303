import { afterEach, describe, expect, test } from 'vitest';
import type { FeedBatch, FeedSignal, TurnFeed } from '../../../src/events/feed.js';
import { newId } from '../../../src/ids.js';
import { deferred } from '../../support/deferred.js';
import { collectBatches, numbered, openConnectedFeed, patience } from '../../support/feeds.js';
import { judged } from '../../support/judged.js';
import { connectRedis, findRedis } from '../../support/redis-server.js';

const redis = await findRedis();

describe.skipIf(redis === null)('a feed through Redis', () => {
  const url = redis ?? '';
  const closing: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((feed) => feed.close()));
  });

  async function open(namespace: string) {
    const feed = await openConnectedFeed({ url, namespace, limits: patience });
    closing.push(feed);
    return feed;
  }
  const openTwo = async (namespace = newId()) => [await open(namespace), await open(namespace)] as const;
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

  test('tells another process every event, as it was published', async () => {
    const [owner, other] = await openTwo();
    const turnId = newId();
    const told = deferred<FeedBatch>();
    other.watch(turnId, told.resolve);
    const usage = { inputTokens: 3, cachedInputTokens: 1, outputTokens: 2, reasoningTokens: 0, estimated: false };
    const batch: FeedBatch = {
      turnId,
      epoch: 7,
      from: 0,
      events: [
        { body: { type: 'TurnStarted' }, at: 1_700_000_000_000 },
        { body: { type: 'ThinkingDelta', step: 0, delta: 'Hm 🤔' }, at: 1_700_000_000_001 },
        { body: { type: 'TextDelta', step: 0, messageId: 'm', delta: 'half a pair \ud83e' }, at: 1_700_000_000_002 },
        { body: { type: 'TextDelta', step: 0, messageId: 'm', delta: '\udd14 "\\\r\n\u2028' }, at: 1_700_000_000_003 },
        { body: { type: 'StepCompleted', step: 0, usage, costUsd: 0.000_001_5, ...judged }, at: 1_700_000_000_004 },
        { body: { type: 'ToolCallStarted', step: 0, toolCallId: 'c' }, at: 1_700_000_000_005 },
        { body: { type: 'ToolCallCompleted', step: 0, toolCallId: 'c' }, at: 1_700_000_000_005 },
        { body: { type: 'InputRequested', requestId: 'r' }, at: 1_700_000_000_005 },
        { body: { type: 'InputResolved', requestId: 'r' }, at: 1_700_000_000_005 },
        { body: { type: 'TurnFailed', code: 'INTERRUPTED', retryable: true }, at: 1_700_000_000_005 },
      ],
    };
    owner.publish(batch);
    expect(await told.promise).toEqual(batch);
  });

  test('keeps the order of each of many turns, and leaves nothing out', async () => {
    const [owner, other] = await openTwo();
    const turns = Array.from({ length: 20 }, () => ({ id: newId(), told: collectBatches() }));
    for (const { id, told } of turns) other.watch(id, told.onBatch);
    for (const n of range(0, 100)) {
      for (const { id } of turns) owner.publish(numbered(id, n));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(turns.map(({ told }) => told.until(99)));
    for (const { told } of turns) expect(told.numbers()).toEqual(range(0, 100));
  });

  test('tells a late watch what the stream holds, then what comes, without a seam', async () => {
    const [owner, other] = await openTwo();
    const turnId = newId();
    const early = collectBatches();
    other.watch(turnId, early.onBatch);
    for (const n of range(0, 300)) {
      owner.publish(numbered(turnId, n));
      if (n === 200) await early.until(200);
    }
    const late = collectBatches();
    other.watch(turnId, late.onBatch);
    for (const n of range(300, 600)) {
      owner.publish(numbered(turnId, n));
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all([early.until(599), late.until(599)]);
    expect(late.numbers()).toEqual(range(0, 600));
    expect(early.numbers()).toEqual(range(0, 600));
  });

  test('tells nothing to a watch that has ended, also when it ends while it is told', async () => {
    const [owner, other] = await openTwo();
    const turnId = newId();
    const first = deferred();
    let told = 0;
    const end = other.watch(turnId, () => {
      told += 1;
      end();
      first.resolve();
    });
    owner.publish(numbered(turnId, 0));
    owner.publish(numbered(turnId, 1));
    await first.promise;
    const witness = collectBatches();
    other.watch(turnId, witness.onBatch);
    owner.publish(numbered(turnId, 2));
    await witness.until(2);
    expect(told).toBe(1);
  });

  test('carries signals to the other processes of the same database, once, and not back', async () => {
    const namespace = newId();
    const [sender, other] = await openTwo(namespace);
    const stranger = await open(newId());
    const turnId = newId();
    const last: FeedSignal = { kind: 'session', sessionId: newId() };
    const signals: FeedSignal[] = [{ kind: 'turn', turnId }, { kind: 'stop', turnId }, { kind: 'released' }, last];
    const heard = new Map<TurnFeed, FeedSignal[]>();
    const [outward, back] = [deferred(), deferred()];
    for (const feed of [sender, other, stranger]) {
      heard.set(feed, []);
      feed.onSignal((signal) => {
        heard.get(feed)?.push(signal);
        if (signal.kind !== 'session') return;
        if (feed === other) outward.resolve();
        if (feed === sender) back.resolve();
      });
    }
    for (const signal of signals) sender.signal(signal);
    await outward.promise;
    // All signals are in one order: whoever hears this one would have heard its own before.
    const answer: FeedSignal = { kind: 'session', sessionId: newId() };
    other.signal(answer);
    await back.promise;
    expect(heard.get(other)).toEqual(signals);
    expect(heard.get(sender)).toEqual([answer]);
    expect(heard.get(stranger)).toEqual([]);
  });

  test('does not mix deployments that share a Redis', async () => {
    const [owner, other] = await openTwo();
    const stranger = await open(newId());
    const turnId = newId();
    const [told, foreign] = [collectBatches(), collectBatches()];
    other.watch(turnId, told.onBatch);
    stranger.watch(turnId, foreign.onBatch);
    owner.publish(numbered(turnId, 0));
    await told.until(0);
    stranger.publish(numbered(turnId, 5));
    await foreign.until(5);
    expect([told.numbers(), foreign.numbers()]).toEqual([[0], [5]]);
  });

  test('goes on when a listener throws', async () => {
    const [owner, other] = await openTwo();
    const turnId = newId();
    const told = collectBatches();
    other.watch(turnId, () => {
      throw new Error('a bug of the listener');
    });
    other.watch(turnId, told.onBatch);
    const heard = deferred<FeedSignal>();
    other.onSignal(() => {
      throw new Error('a bug of the listener');
    });
    other.onSignal(heard.resolve);
    owner.publish(numbered(turnId, 0));
    owner.publish(numbered(turnId, 1));
    owner.signal({ kind: 'released' });
    await told.until(1);
    expect(await heard.promise).toEqual({ kind: 'released' });
    expect(told.numbers()).toEqual([0, 1]);
  });

  test('leaves out what it does not understand, says so once, and goes on', async () => {
    const namespace = newId();
    const [owner, other] = await openTwo(namespace);
    const turnId = newId();
    const key = `chatsession:${namespace}:turn:${turnId}`;
    const client = await connectRedis(url);
    const event = { body: { type: 'SomethingNew' }, at: 1 };
    await client.xAdd(key, '*', { b: 'no JSON' });
    await client.xAdd(key, '*', { other: '' });
    await client.xAdd(key, '*', { b: JSON.stringify([{ epoch: -1, from: 'x', events: [] }]) });
    await client.xAdd(key, '*', { b: JSON.stringify([{ epoch: 1, from: 0, events: [event] }]) });
    await client.xAdd(`chatsession:${namespace}:signals`, '*', { p: 'x', s: '[{"kind":"turn","turnId":5}]' });
    const told = collectBatches();
    const heard = deferred<FeedSignal>();
    other.onSignal(heard.resolve);
    other.watch(turnId, told.onBatch);
    owner.publish(numbered(turnId, 3));
    owner.signal({ kind: 'stop', turnId });
    await told.until(3);
    expect(await heard.promise).toEqual({ kind: 'stop', turnId });
    expect(told.numbers()).toEqual([3]);
    expect(other.lines.filter((line) => line.includes('not understood'))).toHaveLength(1);
    await client.del([key, `chatsession:${namespace}:signals`]);
    client.destroy();
  });

  test('leaves nothing behind that does not expire, and keeps streams short', async () => {
    const namespace = newId();
    const [owner, other] = await openTwo(namespace);
    const turnId = newId();
    const key = `chatsession:${namespace}:turn:${turnId}`;
    const client = await connectRedis(url);
    const long = client.multi();
    for (let n = 0; n < 5_000; n += 1) long.xAdd(key, '*', { b: '[]' });
    await long.exec();
    const told = collectBatches();
    const heard = deferred<FeedSignal>();
    other.onSignal(heard.resolve);
    other.watch(turnId, told.onBatch);
    owner.publish(numbered(turnId, 0));
    owner.signal({ kind: 'turn', turnId });
    await Promise.all([told.until(0), heard.promise]);
    expect(await client.xLen(key)).toBeLessThan(1_200);
    const keys: string[] = [];
    for await (const found of client.scanIterator({ MATCH: `chatsession:${namespace}:*` })) keys.push(...found);
    expect(keys.length).toBeGreaterThanOrEqual(4);
    for (const found of keys) {
      const ttl = await client.pTTL(found);
      expect(ttl, found).toBeGreaterThan(0);
      expect(ttl, found).toBeLessThanOrEqual(60_000);
    }
    client.destroy();
  });

  test('sends what was published last when it is closed, then takes nothing more', async () => {
    const [owner, other] = await openTwo();
    const turnId = newId();
    const told = collectBatches();
    other.watch(turnId, told.onBatch);
    owner.publish(numbered(turnId, 0));
    owner.publish(numbered(turnId, 1));
    await owner.close();
    owner.publish(numbered(turnId, 2));
    owner.signal({ kind: 'released' });
    owner.watch(turnId, () => undefined)();
    owner.onSignal(() => undefined)();
    await owner.close();
    await told.until(1);
    expect(told.numbers()).toEqual([0, 1]);
  });
});
