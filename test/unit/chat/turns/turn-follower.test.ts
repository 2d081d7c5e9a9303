import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FindLog, type FollowedLog, TurnFollower } from '../../../../src/chat/turns/turn-follower.js';
import { TurnMirrors } from '../../../../src/chat/turns/turn-mirrors.js';
import type { TurnEvent, TurnEventBody } from '../../../../src/events/event.js';
import { EventLog } from '../../../../src/events/event-log.js';
import { replay } from '../../../../src/events/replay.js';
import { saying, shown, startToldTurn } from '../../../support/told-turn.js';

// The clock stands still: whatever is found, is found without waiting.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

async function readAll(events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const all: TurnEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const settle = async () => {
  for (let round = 0; round < 5; round += 1) await new Promise(setImmediate);
};

const base = { sessionId: 'session', turnId: '00000000-0000-7000-8000-00000000000a', turnNumber: 1, at: new Date(0) };
const started = (sequence = 1): TurnEvent => ({ ...base, type: 'TurnStarted', sequence });
const text = (delta: string, sequence: number): TurnEvent => ({ ...base, ...saying(delta), sequence }) as TurnEvent;
const completed = (sequence: number): TurnEvent => ({ ...base, type: 'TurnCompleted', sequence });

function logOf(...events: TurnEvent[]): EventLog {
  const log = new EventLog();
  for (const event of events) log.add(event);
  return log;
}

/** Hands out logs one after the other and counts what was given back. */
function finder(...logs: (EventLog | null)[]) {
  const held = new Set<EventLog>();
  const hold = (log: EventLog): FollowedLog => {
    held.add(log);
    return { log, release: () => held.delete(log) };
  };
  const find: FindLog = async () => {
    const log = logs.shift();
    if (log === undefined) throw new Error('nothing more was to be looked for');
    return log && hold(log);
  };
  return { find, hold, held };
}

describe('a follower of a turn', () => {
  it('goes on in the next log where one is over, with nothing twice', async () => {
    const first = logOf(started(), text('Hel', 4));
    const second = logOf(started(), text('Hello ', 7), text('world', 12), completed(13));
    const { find, hold, held } = finder(second);
    const follower = new TurnFollower(find, hold(first), 0);
    const reading = readAll(follower);
    await settle();
    first.detach();
    const events = await reading;
    expect(events.map((event) => ('delta' in event ? event.delta : event.type))).toEqual([
      'TurnStarted',
      'Hel',
      'lo world',
      'TurnCompleted',
    ]);
    expect(held.size).toBe(0);
  });

  it('is told anew by a log whose numbers lie above all that it has seen', async () => {
    const first = logOf(started(), text('half', 5));
    first.detach();
    const second = logOf(started(1_001), text('whole', 1_006), completed(1_007));
    const { find, hold } = finder(second);
    const events = await readAll(new TurnFollower(find, hold(first), 0));
    expect(events.map(({ type }) => type)).toEqual([
      'TurnStarted',
      'TextDelta',
      'TurnStarted',
      'TextDelta',
      'TurnCompleted',
    ]);
    expect(shown(events)).toEqual(['TurnStarted', 'text whole', 'TurnCompleted']);
  });

  const whole = [started(), text('The light turns.', 17), completed(18)];

  it.each([
    [0, ['TurnStarted', 'text The light turns.', 'TurnCompleted']],
    [1 + 4, ['text light turns.', 'TurnCompleted']],
    [17, ['TurnCompleted']],
    // Nobody has been told more than the end.
    [18, []],
    [18 + 9, ['TurnStarted', 'text The light turns.', 'TurnCompleted']],
  ])('of a turn that has ended gives what lies behind %i', async (after, lines) => {
    const { find, hold, held } = finder();
    expect(shown(await readAll(new TurnFollower(find, hold(logOf(...whole)), after)))).toEqual(lines);
    expect(held.size).toBe(0);
  });

  it('ends when the turn is gone', async () => {
    const first = logOf(started());
    first.detach();
    const { find, hold, held } = finder(null);
    expect(shown(await readAll(new TurnFollower(find, hold(first), 0)))).toEqual(['TurnStarted']);
    expect(held.size).toBe(0);
  });

  it('gives its log back with the last event, though nobody asks for more', async () => {
    const { find, hold, held } = finder();
    const follower = new TurnFollower(find, hold(logOf(...whole)), 17);
    expect((await follower.next()).value?.type).toBe('TurnCompleted');
    expect(held.size).toBe(0);
    expect((await follower.next()).done).toBe(true);
  });

  it('that leaves while it looks for a log ends at once, says so to the search, and gives back what comes late', async () => {
    const first = logOf(started());
    const { hold, held } = finder();
    let answer: (log: FollowedLog) => void = () => {};
    let isLeft: () => boolean = () => false;
    const follower = new TurnFollower(
      (leaving) => {
        isLeft = () => leaving.isFired;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      hold(first),
      1,
    );
    first.detach();
    const waiting = follower.next();
    await settle();
    expect([held.size, isLeft()]).toEqual([0, false]);
    await follower.return();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(isLeft()).toBe(true);
    answer(hold(logOf(...whole)));
    await settle();
    expect(held.size).toBe(0);
    expect((await follower.next()).done).toBe(true);
  });

  it('tells of a search that fails, and may be asked again', async () => {
    const first = logOf(started());
    first.detach();
    const { hold } = finder();
    let fails = true;
    const follower = new TurnFollower(
      async () => {
        if (fails) throw new Error('no rights');
        return hold(logOf(...whole));
      },
      hold(first),
      1,
    );
    await expect(follower.next()).rejects.toThrow('no rights');
    fails = false;
    expect(shown(await readAll(follower))).toEqual(['text The light turns.', 'TurnCompleted']);
  });
});

type Act = 'tell' | 'store' | 'lose' | 'repeat' | 'take over' | 'detach';
const acts = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Act>('tell') },
    { weight: 3, arbitrary: fc.constant<Act>('store') },
    { weight: 1, arbitrary: fc.constantFrom<Act>('lose', 'repeat', 'take over', 'detach') },
  ),
  { maxLength: 25 },
);

describe('a follower over mirrors', () => {
  /** Plays acts of an owner, with every delivery and every answer of the database when the scheduler says so. */
  async function play(scheduler: fc.Scheduler, todo: readonly Act[], leaveAfter: number | null) {
    let isLost = false;
    const turn = startToldTurn((arrive) => {
      if (!isLost) void scheduler.schedule(Promise.resolve()).then(arrive);
    });
    const mirrors = new TurnMirrors(turn.feed, () => false);
    // What is read is what is stored when the question arrives; the answer may take its time.
    const load = async () => {
      await scheduler.schedule(Promise.resolve());
      const stored = turn.stored();
      await scheduler.schedule(Promise.resolve());
      return stored;
    };
    const find = async () => mirrors.hold(await load(), load);
    const said: TurnEventBody[] = [];
    const owner = scheduler.scheduleSequence(
      [...todo, 'end' as const].map((act, at) => async () => {
        isLost = act === 'lose';
        if (act === 'tell' || act === 'lose') {
          said.push(saying(`${at} `));
          turn.tell(saying(`${at} `));
        } else if (act === 'store') turn.store();
        else if (act === 'repeat') turn.publish({ epoch: 1, from: 1, events: said.map((body) => ({ body, at: 0 })) });
        else if (act === 'take over') {
          said.length = 0;
          turn.takeOver();
        } else if (act === 'detach') mirrors.close();
        else turn.end();
      }),
    );
    const follower = new TurnFollower(find, await scheduler.waitFor(find()), 0);
    const reading = readAll(follower);
    if (leaveAfter !== null) {
      const steps = Array.from({ length: leaveAfter }, () => async () => {});
      void scheduler.scheduleSequence([...steps, async () => void (await follower.return())]);
    }
    await scheduler.waitFor(owner.task);
    const events = await scheduler.waitFor(
      leaveAfter === null ? readToEnd(mirrors, turn.stored().id, reading) : reading,
    );
    await scheduler.waitIdle();
    await settle();
    return { events, turn, mirrors };
  }

  /** The signal of the end may meet no mirror, or one that reads just then; time does what is left. */
  async function readToEnd(mirrors: TurnMirrors, turnId: string, reading: Promise<TurnEvent[]>): Promise<TurnEvent[]> {
    let isOver = false;
    void reading.then(() => {
      isOver = true;
    });
    while (!isOver) {
      mirrors.refresh(turnId);
      await new Promise(setImmediate);
    }
    return reading;
  }

  it('shows in the end what is stored, with rising numbers and nothing twice, whatever comes when', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), acts, async (scheduler, todo) => {
        const { events, turn, mirrors } = await play(scheduler, todo, null);
        expect(shown(events)).toEqual(shown(replay(turn.stored(), 0)));
        const numbers = events.map(({ sequence }) => sequence);
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        expect([mirrors.size, turn.watchers(), vi.getTimerCount()]).toEqual([0, 0, 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('leaves no mirror, watch or timer behind, whenever it leaves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), acts, fc.nat(30), async (scheduler, todo, leaveAfter) => {
        const { turn, mirrors } = await play(scheduler, todo, leaveAfter);
        expect([mirrors.size, turn.watchers(), vi.getTimerCount()]).toEqual([0, 0, 0]);
      }),
      { numRuns: 200 },
    );
  });
});
