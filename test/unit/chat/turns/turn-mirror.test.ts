import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TurnFollower } from '../../../../src/chat/turns/turn-follower.js';
import { type MirrorSource, TurnMirror } from '../../../../src/chat/turns/turn-mirror.js';
import { TurnMirrors } from '../../../../src/chat/turns/turn-mirrors.js';
import type { TurnEvent } from '../../../../src/events/event.js';
import type { FeedBatch } from '../../../../src/events/feed.js';
import { LogCursor } from '../../../../src/events/log-cursor.js';
import { saying, shown, startToldTurn, type ToldTurn } from '../../../support/told-turn.js';

// The clock of the mirrors stands still unless a test moves it; everything else runs.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** Lets everything happen that needs no time. */
const settle = async () => {
  for (let round = 0; round < 5; round += 1) await new Promise(setImmediate);
};

function openMirror(turn: ToldTurn, over: Partial<MirrorSource> = {}) {
  let loads = 0;
  const mirror = new TurnMirror(turn.stored(), {
    feed: turn.feed,
    isLive: () => false,
    ...over,
    load: () => {
      loads += 1;
      return over.load?.() ?? Promise.resolve(turn.stored());
    },
  });
  const events: TurnEvent[] = [];
  const cursor = new LogCursor(mirror.log, 0);
  const reading = (async () => {
    for await (const event of cursor) events.push(event);
  })();
  return {
    mirror,
    events,
    reading,
    loads: () => loads,
    async close() {
      mirror.close();
      await reading;
    },
  };
}

describe('the mirror of a turn', () => {
  it('tells what the feed tells, and the end that the database tells', async () => {
    const turn = startToldTurn();
    const { events, reading } = openMirror(turn);
    turn.tell(saying('Hello '));
    turn.tell(saying('world'));
    await settle();
    expect(shown(events)).toEqual(['TurnStarted', 'text Hello world']);
    turn.end();
    await vi.advanceTimersByTimeAsync(500);
    await reading;
    expect(shown(events)).toEqual(['TurnStarted', 'text Hello world', 'TurnCompleted']);
    expect(turn.watchers()).toBe(1);
  });

  it('without a feed is no more than half a second behind what is stored', async () => {
    const turn = startToldTurn();
    const { events, close } = openMirror(turn, { feed: null });
    for (const word of ['one ', 'two ', 'three ']) {
      turn.tell(saying(word));
      turn.store();
      await vi.advanceTimersByTimeAsync(500);
      await settle();
      expect(shown(events).at(-1)?.endsWith(word)).toBe(true);
    }
    await close();
  });

  it('takes each piece once, however feed and database overlap, and whatever is told twice', async () => {
    const published: FeedBatch[] = [];
    const turn = startToldTurn();
    turn.feed.watch('', (batch) => published.push(batch));
    turn.tell(saying('Hel'));
    turn.store();
    const { mirror, events, close } = openMirror(turn);
    turn.tell(saying('lo '));
    turn.tell(saying('world'));
    for (const batch of [...published, ...published]) turn.publish(batch);
    // One batch that begins in the middle of what is known.
    turn.publish({ epoch: 1, from: 3, events: [{ body: saying('llo world!'), at: 0 }] });
    turn.store();
    mirror.refresh();
    await settle();
    expect(shown(events)).toEqual(['TurnStarted', 'text Hello world!']);
    await close();
  });

  it('asks the database for what the feed has lost, and goes on with the feed from there', async () => {
    let isLost = false;
    const turn = startToldTurn((arrive) => {
      if (!isLost) arrive();
    });
    const { events, loads, close } = openMirror(turn);
    turn.tell(saying('one '));
    isLost = true;
    turn.tell(saying('two '));
    turn.store();
    isLost = false;
    await settle();
    const before = loads();
    turn.tell(saying('three '));
    turn.tell(saying('four'));
    await settle();
    // Three and four are stored nowhere: they were kept until two was known.
    expect(shown(events)).toEqual(['TurnStarted', 'text one two three four']);
    expect(loads()).toBe(before + 1);
    turn.tell(saying(' five'));
    await settle();
    expect(shown(events).at(-1)).toBe('text one two three four five');
    expect(loads()).toBe(before + 1);
    await close();
  });

  it('asks no more than twice a second for what is not stored yet, however much comes behind it', async () => {
    let isLost = true;
    const turn = startToldTurn((arrive) => {
      if (!isLost) arrive();
    });
    const { events, loads, close } = openMirror(turn);
    await settle();
    const before = loads();
    turn.tell(saying('lost '));
    isLost = false;
    for (let word = 0; word < 100; word += 1) {
      turn.tell(saying(`${word} `));
      await settle();
    }
    expect(loads()).toBe(before + 1);
    expect(shown(events)).toEqual(['TurnStarted']);
    turn.store();
    await vi.advanceTimersByTimeAsync(500);
    await settle();
    expect(shown(events).at(-1)).toBe(`text lost ${Array.from({ length: 100 }, (_, word) => `${word} `).join('')}`);
    await close();
  });

  it('is told anew by a new owner, as soon as the feed speaks of it, and hears no word of the old one', async () => {
    const turn = startToldTurn();
    const { events, close } = openMirror(turn);
    turn.tell(saying('old words'));
    const old = turn.log();
    turn.takeOver();
    turn.tell(saying('new '));
    turn.tell(saying('words'));
    old.append(saying(' and more'));
    await settle();
    expect(events.filter(({ type }) => type === 'TurnStarted')).toHaveLength(2);
    expect(shown(events)).toEqual(['TurnStarted', 'text new words']);
    // So much that its numbers reach into those of the new telling.
    old.append(saying(' and more'.repeat(1_000)));
    await settle();
    expect(shown(events)).toEqual(['TurnStarted', 'text new words']);
    const numbers = events.map(({ sequence }) => sequence);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    await close();
  });

  it('finds a new owner without the feed, also while the old one goes on speaking', async () => {
    let isLost = false;
    const turn = startToldTurn((arrive) => {
      if (!isLost) arrive();
    });
    const { events, close } = openMirror(turn);
    turn.tell(saying('old words'));
    const old = turn.log();
    isLost = true;
    turn.takeOver();
    turn.tell(saying('new words'));
    turn.store();
    isLost = false;
    for (let word = 0; word < 3; word += 1) {
      await vi.advanceTimersByTimeAsync(200);
      if (word < 2) old.append(saying(' and more'));
    }
    await vi.advanceTimersByTimeAsync(500);
    await settle();
    expect(shown(events)).toEqual(['TurnStarted', 'text new words']);
    await close();
  });

  it('takes no late answer of the database for news of an owner that was replaced', async () => {
    const turn = startToldTurn();
    turn.tell(saying('old words'));
    turn.store();
    const late = turn.stored();
    turn.takeOver();
    const { mirror, events, close } = openMirror(turn, { load: async () => late });
    mirror.refresh();
    await settle();
    turn.tell(saying('new words'));
    await settle();
    expect(shown(events)).toEqual(['TurnStarted', 'text new words']);
    await close();
  });

  it('waits for a database that is away, and asks again', async () => {
    const turn = startToldTurn();
    let isAway = true;
    const { events, reading } = openMirror(turn, {
      feed: null,
      load: async () => {
        if (isAway) throw new Error('away');
        return turn.stored();
      },
    });
    turn.tell(saying('all of it'));
    turn.end();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(shown(events)).toEqual(['TurnStarted']);
    isAway = false;
    await vi.advanceTimersByTimeAsync(500);
    await reading;
    expect(shown(events)).toEqual(['TurnStarted', 'text all of it', 'TurnCompleted']);
  });

  it('is over when the turn is gone, or runs in this process', async () => {
    for (const over of [{ load: async () => null }, { isLive: () => true }]) {
      const { mirror, reading } = openMirror(startToldTurn(), over);
      await reading;
      expect([mirror.log.isOver, mirror.log.isEnded]).toEqual([true, false]);
    }
  });

  it('of a turn that has ended asks nobody', async () => {
    const turn = startToldTurn();
    turn.end();
    const { events, reading, loads } = openMirror(turn);
    await reading;
    expect(shown(events)).toEqual(['TurnStarted', 'TurnCompleted']);
    expect([loads(), turn.watchers()]).toEqual([0, 0]);
  });
});

describe('the mirrors of a process', () => {
  it('are one for a turn, kept while somebody follows it, and given back once by each', async () => {
    const turn = startToldTurn();
    const mirrors = new TurnMirrors(turn.feed, () => false);
    const load = async () => turn.stored();
    const [first, second] = [mirrors.hold(turn.stored(), load), mirrors.hold(turn.stored(), load)];
    expect(first.log).toBe(second.log);
    expect([mirrors.size, turn.watchers()]).toEqual([1, 1]);
    first.release();
    first.release();
    expect([mirrors.size, first.log.isOver]).toEqual([1, false]);
    second.release();
    expect([mirrors.size, turn.watchers(), first.log.isOver]).toEqual([0, 0, true]);
    mirrors.close();
    await settle();
  });

  it('look at once when a signal names their turn', async () => {
    const turn = startToldTurn();
    const mirrors = new TurnMirrors(turn.feed, () => false);
    const { log, release } = mirrors.hold(turn.stored(), async () => turn.stored());
    await settle();
    turn.end();
    await settle();
    expect(log.isEnded).toBe(true);
    release();
    mirrors.close();
  });

  it('leave a turn that begins to run here to its own log', async () => {
    const turn = startToldTurn();
    let isLive = false;
    const mirrors = new TurnMirrors(turn.feed, () => isLive);
    const load = async () => turn.stored();
    const follower = new TurnFollower(
      async () => (isLive ? { log: turn.log().events, release: () => {} } : mirrors.hold(turn.stored(), load)),
      mirrors.hold(turn.stored(), load),
      0,
    );
    const events: TurnEvent[] = [];
    const reading = (async () => {
      for await (const event of follower) events.push(event);
    })();
    turn.tell(saying('from afar, '));
    await settle();
    isLive = true;
    mirrors.refresh(turn.stored().id);
    await settle();
    expect(mirrors.size).toBe(0);
    turn.tell(saying('and from here'));
    turn.end();
    await reading;
    expect(shown(events)).toEqual(['TurnStarted', 'text from afar, and from here', 'TurnCompleted']);
    expect(events.filter(({ type }) => type === 'TurnStarted')).toHaveLength(1);
    mirrors.close();
  });
});
