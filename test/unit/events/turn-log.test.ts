import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TurnEvent, TurnEventBody } from '../../../src/events/event.js';
import { LogCursor } from '../../../src/events/log-cursor.js';
import { replay, type StoredTurn } from '../../../src/events/replay.js';
import { TurnLog } from '../../../src/events/turn-log.js';
import { judged } from '../../support/judged.js';

const turn = { sessionId: 'session', turnId: '00000000-0000-7000-8000-00000000000a', turnNumber: 3, eventBase: 40 };
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0, estimated: false };
const text = (delta: string): TurnEventBody => ({ type: 'TextDelta', step: 1, messageId: 'message', delta });
const thought = (delta: string): TurnEventBody => ({ type: 'ThinkingDelta', step: 1, delta });
const stepCompleted: TurnEventBody = { type: 'StepCompleted', step: 1, usage, costUsd: 0.5, ...judged };

function logOf(...bodies: TurnEventBody[]): TurnLog {
  const log = new TurnLog(turn, () => new Date(0));
  for (const body of bodies) log.append(body);
  return log;
}

async function readAll(events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const all: TurnEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** What is left to see when deltas are joined: merged or not, a reader must come to this. */
function essence(events: readonly TurnEvent[]): string[] {
  const lines: string[] = [];
  for (const event of events) {
    const isDelta = event.type === 'TextDelta' || event.type === 'ThinkingDelta';
    const last = lines.at(-1);
    if (isDelta && last?.startsWith(`${event.type}:`)) lines[lines.length - 1] = last + event.delta;
    else lines.push(isDelta ? `${event.type}:${event.delta}` : event.type);
  }
  return lines;
}

const deltas = fc.array(
  fc.record({
    kind: fc.constantFrom('text', 'thought'),
    delta: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 30 },
);
const bodiesOf = (parts: readonly { kind: string; delta: string }[]): TurnEventBody[] => [
  { type: 'TurnStarted' },
  ...parts.map(({ kind, delta }) => (kind === 'text' ? text(delta) : thought(delta))),
  stepCompleted,
  { type: 'TurnCompleted' },
];

function stored(log: TurnLog, bodies: readonly TurnEventBody[]): StoredTurn {
  const content = bodies.map((body) => (body.type === 'TextDelta' ? body.delta : '')).join('');
  return {
    id: turn.turnId,
    sessionId: turn.sessionId,
    number: turn.turnNumber,
    epoch: 1,
    eventBase: turn.eventBase,
    status: 'COMPLETED',
    errorCode: null,
    errorRetryable: null,
    layout: log.layout,
    texts: new Map([['message', content]]),
  };
}

describe('the log of a turn', () => {
  it('hands a follower everything in order, once, and ends after the terminal event', async () => {
    const log = logOf({ type: 'TurnStarted' }, text('Hel'));
    const reading = readAll(new LogCursor(log.events, 0));
    await new Promise(setImmediate);
    log.append(text('lo'));
    log.append(stepCompleted);
    log.append({ type: 'TurnCompleted' });
    const events = await reading;
    expect(essence(events)).toEqual(['TurnStarted', 'TextDelta:Hello', 'StepCompleted', 'TurnCompleted']);
    expect(events.map((event) => event.sequence)).toEqual([41, 44, 46, 47, 48]);
  });

  it('takes nothing after the terminal event', () => {
    const log = logOf({ type: 'TurnStarted' }, { type: 'TurnStopped' }, text('late'), { type: 'TurnCompleted' });
    expect(log.sequence).toBe(42);
  });

  it('merges neighbouring deltas for a reader that is behind', async () => {
    const log = logOf({ type: 'TurnStarted' }, text('a'), text('b'), text('c'), { type: 'TurnCompleted' });
    const events = await readAll(new LogCursor(log.events, 0));
    expect(events.map((event) => [event.type, event.sequence])).toEqual([
      ['TurnStarted', 41],
      ['TextDelta', 44],
      ['TurnCompleted', 45],
    ]);
  });

  it('never tells again what a follower was told before this log knew of it', async () => {
    const log = logOf({ type: 'TurnStarted' });
    const reading = readAll(new LogCursor(log.events, 44));
    for (const body of [stepCompleted, text('ab'), text('cd'), { type: 'TurnCompleted' } as const]) log.append(body);
    expect(essence(await reading)).toEqual(['TextDelta:cd', 'TurnCompleted']);
  });

  it('ends a waiting reader at once when it leaves, and forgets it', async () => {
    const log = logOf({ type: 'TurnStarted' });
    const cursor = new LogCursor(log.events, 41);
    const waiting = cursor.next();
    await new Promise(setImmediate);
    expect(log.events.followers).toBe(1);
    await cursor.return();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(log.events.followers).toBe(0);
  });

  it('resumes exactly behind any sequence that was ever seen, from memory and from storage alike', async () => {
    await fc.assert(
      fc.asyncProperty(deltas, fc.nat(), async (parts, pick) => {
        const bodies = bodiesOf(parts);
        const log = logOf(...bodies);
        const whole = await readAll(new LogCursor(log.events, 0));
        const single = bodies.reduce((sum, body) => sum + ('delta' in body ? body.delta.length : 1), 0);
        const after = turn.eventBase + (pick % (single + 1));
        const rest = await readAll(new LogCursor(log.events, after));
        const fromStorage = replay(stored(log, bodies), after);
        expect(essence(fromStorage)).toEqual(essence(rest));
        expect(fromStorage.every((event) => event.sequence > after)).toBe(true);
        const textOf = (events: readonly TurnEvent[]) =>
          events.map((event) => ('delta' in event ? event.delta : `<${event.type}>`)).join('');
        expect(textOf(whole).endsWith(textOf(rest))).toBe(true);
        expect(rest.at(-1)?.sequence ?? after).toBe(turn.eventBase + single);
      }),
    );
  });

  it('loses nothing between reading and waiting, whatever the timing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), deltas, async (scheduler, parts) => {
        const bodies = bodiesOf(parts);
        const log = new TurnLog(turn, () => new Date(0));
        const writes = scheduler.scheduleSequence(
          bodies.map((body) => async () => {
            log.append(body);
          }),
        );
        const reading = scheduler.schedule(Promise.resolve()).then(() => readAll(new LogCursor(log.events, 0)));
        await scheduler.waitFor(writes.task);
        expect(essence(await scheduler.waitFor(reading))).toEqual(essence(replay(stored(log, bodies), 0)));
      }),
      { numRuns: 50 },
    );
  });
});
