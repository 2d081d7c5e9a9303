import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatClient, type EventStream, openEvents, openTurn, textOf } from '../support/client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { sessionEvents, turnEvents } from '../support/documents.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import { findRedis } from '../support/redis-server.js';
import type { ReplicaOptions } from '../support/replica.js';
import { replicaBundle } from '../support/replica-bundle.js';
import { useReplicas } from '../support/replicas.js';
import * as script from '../support/script.js';
import { gapsIn, isEnd } from '../support/told.js';

// Field report A71: with several instances events are lost, or there is a gap while one of them restarts.
let provider: ScriptedProvider;
let database: TestDatabase;
let options: ReplicaOptions;
beforeAll(async () => {
  provider = await startProvider();
  database = await createTestDatabase();
  options = { provider, database };
  await replicaBundle();
}, 120_000);
afterAll(async () => {
  await provider.close();
  await database.drop();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an event is its own business.
type Event = any;

/** The next reply has three parts: the second and the third come when their gates open. */
function sayInThreeParts(name: string) {
  const parts = ['first', 'second', 'third'].map((part) => `${part} part of ${name}. `);
  const gates = [script.gate(), script.gate()];
  provider.enqueue([
    parts.map((part, at) => [
      at > 0 ? script.pause(gates[at - 1] as script.Gate) : [],
      script.text(part, { chunks: 5 }),
    ]),
    script.finish('stop'),
    script.usage({ prompt: 3, completion: 15 }),
  ]);
  return { parts, open: (at: number) => gates[at]?.open() };
}

const readText = (stream: EventStream, seen: Event[], text: string) =>
  stream.until((event) => {
    seen.push(event);
    return textOf(seen) === text;
  });

const redis = await findRedis();
const feeds = [['without Redis', null] as const, ...(redis === null ? [] : [['with Redis', redis] as const])];
const ways = feeds.flatMap(([feed, url]) => (['ws', 'sse'] as const).map((transport) => ({ feed, url, transport })));

describe.each(ways)('a watcher over $transport, $feed,', { timeout: 120_000 }, ({ url: redisUrl, transport }) => {
  const twoServers = async () => {
    const [a, b] = await useReplicas(2, { ...options, ...(redisUrl !== null && { redisUrl }) });
    if (!b) throw new Error('there is one only');
    return { a, b };
  };

  it('whose server is killed goes on at the other one, and back at the first when it is there again', async () => {
    const { a, b } = await twoServers();
    const sessionId = await chatClient(a.url).createSession();
    const { parts, open } = sayInThreeParts('one reply');
    const asked = openTurn(a.url, 'ws', sessionId, 'go');
    const { turnId } = await asked.next();
    const own = asked.rest();

    const seen: Event[] = [];
    const onB = openEvents(b.url, transport, turnEvents, { turnId });
    await readText(onB, seen, parts[0] as string);
    const cut = onB.rest().catch(() => []);
    await b.kill();
    expect(await cut).toEqual([]);
    const onA = openEvents(a.url, transport, turnEvents, { turnId, after: seen.at(-1).cursor });
    // What is said while the one server restarts is heard at the other.
    open(0);
    await Promise.all([readText(onA, seen, parts.slice(0, 2).join('')), b.restart()]);
    onA.leave();
    const again = openEvents(b.url, transport, turnEvents, { turnId, after: seen.at(-1).cursor });
    open(1);
    seen.push(...(await again.rest()));
    expect(textOf(seen)).toBe(parts.join(''));
    expect(gapsIn(seen)).toEqual([]);
    expect(seen.filter(isEnd)).toHaveLength(1);
    expect(seen.at(-1)).toEqual((await own).at(-1));
    expect((await chatClient(a.url).session(sessionId)).history[1].content).toBe(parts.join(''));
  });

  it('of a whole session hears every turn, though its server is killed in the middle of one', async () => {
    const { a, b } = await twoServers();
    const sessionId = await chatClient(a.url).createSession();
    const zero = await openTurn(a.url, 'sse', sessionId, 'zero').rest();
    const seen: Event[] = [...zero];
    const onB = openEvents(b.url, transport, sessionEvents, { sessionId, after: seen.at(-1).cursor });
    const readTurn = (stream: EventStream) =>
      stream.until((event) => {
        seen.push(event);
        return isEnd(event);
      });
    const first = readTurn(onB);
    await chatClient(a.url).send(sessionId, 'one');
    await first;

    const { parts, open } = sayInThreeParts('two');
    const second = chatClient(a.url).send(sessionId, 'two');
    await readText(onB, seen, `echo: zeroecho: one${parts[0]}`);
    const cut = onB.rest().catch(() => []);
    await b.kill();
    expect(await cut).toEqual([]);
    open(0);
    open(1);
    await second;
    // A turn that passes while it listens nowhere.
    await chatClient(a.url).send(sessionId, 'three');
    const onA = openEvents(a.url, transport, sessionEvents, { sessionId, after: seen.at(-1).cursor });
    await readTurn(onA);
    await readTurn(onA);
    const last = readTurn(onA);
    await chatClient(a.url).send(sessionId, 'four');
    await last;
    onA.leave();
    expect(textOf(seen)).toBe(`echo: zeroecho: one${parts.join('')}echo: threeecho: four`);
    expect(gapsIn(seen)).toEqual([]);
    expect(seen.filter(isEnd)).toHaveLength(5);
    expect(provider.violations).toEqual([]);
  });
});
