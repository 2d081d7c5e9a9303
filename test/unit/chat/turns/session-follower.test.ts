import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Interruption } from '../../../../src/chat/turns/interruption.js';
import { SessionFollower, type SessionSource } from '../../../../src/chat/turns/session-follower.js';
import { SessionWatch } from '../../../../src/chat/turns/session-watch.js';
import { TurnFollower } from '../../../../src/chat/turns/turn-follower.js';
import type { TurnEvent } from '../../../../src/events/event.js';
import { TurnLog } from '../../../../src/events/turn-log.js';
import { deferred } from '../../../support/deferred.js';

const settle = async () => {
  for (let round = 0; round < 5; round += 1) await new Promise(setImmediate);
};

const turnIdOf = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;

/** A session whose turns a test starts and ends, with the answers of its database delayed by `ask`. */
function startSession(ask: () => Promise<unknown> = async () => {}) {
  const turns: TurnLog[] = [];
  let isGone = false;
  let held = 0;
  const pool = {
    async query({ values }: { values: [string[], number[]] }) {
      await ask();
      const isMoved = isGone || turns.length > (values[1][0] ?? 0);
      return { rows: isMoved ? values[0].map((id) => ({ id })) : [] };
    },
  };
  const watch = new SessionWatch({ pool } as unknown as ConstructorParameters<typeof SessionWatch>[0]);
  const follow = (log: TurnLog) => {
    held += 1;
    const release = () => {
      held -= 1;
    };
    return new TurnFollower(async () => null, { log: log.events, release }, 0);
  };
  const source: SessionSource = {
    wait: (number) => watch.wait('session', number),
    async next(number) {
      await ask();
      if (isGone) return undefined;
      const log = turns[number];
      return log ? { number: number + 1, events: follow(log) } : null;
    },
  };
  return {
    source,
    watch,
    follow,
    held: () => held,
    begin() {
      const number = turns.length + 1;
      const turn = { sessionId: 'session', turnId: turnIdOf(number), turnNumber: number, eventBase: number * 10 };
      const log = new TurnLog(turn, () => new Date(0));
      log.append({ type: 'TurnStarted' });
      turns.push(log);
      watch.wake('session');
      return log;
    },
    remove() {
      isGone = true;
      for (const { events } of turns) events.detach();
    },
  };
}

async function readAll(events: AsyncIterable<TurnEvent>, into: string[] = []): Promise<string[]> {
  for await (const event of events) into.push(`${event.turnNumber} ${event.type}`);
  return into;
}

describe('a follower of a session', () => {
  it('tells one turn after the other, those that passed meanwhile too, until the session is gone', async () => {
    const session = startSession();
    const told: string[] = [];
    const reading = readAll(new SessionFollower(session.source, 0), told);
    await settle();
    expect(told).toEqual([]);
    const first = session.begin();
    await settle();
    expect(told).toEqual(['1 TurnStarted']);
    first.append({ type: 'TurnCompleted' });
    session.begin().append({ type: 'TurnStopped' });
    session.begin().append({ type: 'TurnCompleted' });
    await settle();
    expect(told.slice(1)).toEqual([
      '1 TurnCompleted',
      '2 TurnStarted',
      '2 TurnStopped',
      '3 TurnStarted',
      '3 TurnCompleted',
    ]);
    session.remove();
    await session.watch.look();
    await reading;
    expect(told).toHaveLength(6);
    expect([session.watch.size, session.held()]).toEqual([0, 0]);
  });

  it('begins with what is left of a turn, and goes on behind it', async () => {
    const session = startSession();
    const first = session.begin();
    first.append({ type: 'TurnCompleted' });
    session.begin().append({ type: 'TurnCompleted' });
    const follower = new SessionFollower(session.source, 1, session.follow(first));
    const told: string[] = [];
    void readAll(follower, told);
    await settle();
    expect(told).toEqual(['1 TurnStarted', '1 TurnCompleted', '2 TurnStarted', '2 TurnCompleted']);
    await follower.return();
    expect([session.watch.size, session.held()]).toEqual([0, 0]);
  });

  it('misses no turn that begins between its look and its wait, without a wake and whatever comes when', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 6 }), async (scheduler, count) => {
        const session = startSession(() => scheduler.schedule(Promise.resolve()));
        const told: string[] = [];
        const follower = new SessionFollower(session.source, 0);
        const reading = readAll(follower, told);
        const owner = scheduler.scheduleSequence(
          Array.from({ length: count }, () => async () => {
            session.begin().append({ type: 'TurnCompleted' });
          }),
        );
        await scheduler.waitFor(owner.task);
        const all = (async () => {
          while (told.length < count * 2) await new Promise(setImmediate);
        })();
        await scheduler.waitFor(all);
        expect(told).toEqual(
          Array.from({ length: count }, (_, at) => [`${at + 1} TurnStarted`, `${at + 1} TurnCompleted`]).flat(),
        );
        await follower.return();
        await reading;
        await scheduler.waitIdle();
        await settle();
        expect([session.watch.size, session.held()]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });

  it('leaves no watch and no turn behind, whenever it leaves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.nat(15), fc.nat(4), async (scheduler, leaveAfter, count) => {
        const session = startSession(() => scheduler.schedule(Promise.resolve()));
        const follower = new SessionFollower(session.source, 0);
        const reading = readAll(follower);
        void scheduler.scheduleSequence(
          Array.from({ length: count }, (_, at) => async () => {
            const log = session.begin();
            if (at % 2) log.append({ type: 'TurnCompleted' });
          }),
        );
        const steps = Array.from({ length: leaveAfter }, () => async () => {});
        void scheduler.scheduleSequence([...steps, async () => void (await follower.return())]);
        await scheduler.waitFor(reading);
        await scheduler.waitIdle();
        await settle();
        expect([session.watch.size, session.held()]).toEqual([0, 0]);
        expect((await follower.next()).done).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('takes its watch back when the look fails', async () => {
    const session = startSession(async () => {
      throw new Error('no rights');
    });
    await expect(new SessionFollower(session.source, 0).next()).rejects.toThrow('no rights');
    expect(session.watch.size).toBe(0);
  });
});

describe('the watch over sessions', () => {
  it('asks once for all who wait, and wakes those whose session has moved', async () => {
    const asked: unknown[] = [];
    const pool = {
      query: async ({ values }: { values: unknown[] }) => {
        asked.push(values);
        return { rows: [{ id: 'moved' }] };
      },
    };
    const watch = new SessionWatch({ pool } as unknown as ConstructorParameters<typeof SessionWatch>[0]);
    await watch.look();
    expect(asked).toEqual([]);
    const woken: string[] = [];
    const waits = [
      ['moved', 4],
      ['moved', 2],
      ['still', 7],
    ].map(([id, number]) => {
      const wait = watch.wait(String(id), Number(number));
      void wait.woken.then(() => woken.push(`${id} ${number}`));
      return wait;
    });
    await watch.look();
    expect(asked).toEqual([
      [
        ['moved', 'still'],
        [2, 7],
      ],
    ]);
    await settle();
    expect(woken).toEqual(['moved 4', 'moved 2']);
    for (const { cancel } of waits) cancel();
    expect(watch.size).toBe(0);
  });
});

describe('an interruption', () => {
  it('ends a wait at once, and gives back what comes late', async () => {
    const leaving = new Interruption();
    const work = deferred<string>();
    const late: string[] = [];
    const raced = leaving.race(work.promise, (result) => late.push(result));
    leaving.fire();
    expect(await raced).toBeNull();
    work.resolve('late');
    await settle();
    expect(late).toEqual(['late']);
    expect(await leaving.race(Promise.resolve('too late'), (result) => late.push(result))).toBeNull();
    expect(late).toEqual(['late', 'too late']);
  });

  it('that does not come changes nothing', async () => {
    const leaving = new Interruption();
    expect(await leaving.race(Promise.resolve(7))).toBe(7);
    await expect(leaving.race(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it('swallows the failure of work that nobody waits for any more', async () => {
    const leaving = new Interruption();
    const work = deferred<string>();
    const raced = leaving.race(work.promise);
    leaving.fire();
    work.reject(new Error('broken late'));
    expect(await raced).toBeNull();
  });
});
