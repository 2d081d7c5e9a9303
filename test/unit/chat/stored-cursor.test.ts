import { describe, expect, it } from 'vitest';
import { StoredCursor } from '../../../src/chat/turns/stored-cursor.js';
import type { TurnEvent } from '../../../src/events/event.js';
import type { StoredTurn } from '../../../src/events/replay.js';

const text = 'The light turns.';

/** A turn that failed after the text; its last event has the sequence 1 + text.length + 1. */
const failedTurn: StoredTurn = {
  id: '0190a1b2-0000-7000-8000-000000000001',
  sessionId: '0190a1b2-0000-7000-8000-000000000002',
  number: 1,
  epoch: 1,
  status: 'FAILED',
  errorCode: 'INTERRUPTED',
  errorRetryable: true,
  layout: [
    { type: 'start', at: 0 },
    { type: 'text', at: 1, step: 1, messageId: 'message', length: text.length },
    { type: 'end', at: 2 },
  ],
  texts: new Map([['message', text]]),
};
const runningTurn: StoredTurn = { ...failedTurn, status: 'RUNNING', layout: failedTurn.layout.slice(0, 2) };
const last = text.length + 2;

async function read(turn: StoredTurn, after: number, later: StoredTurn = turn): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  const cursor = new StoredCursor(
    turn,
    after,
    async () => later,
    () => undefined,
  );
  for await (const event of cursor) events.push(event);
  return events;
}

const typesOf = (events: readonly TurnEvent[]) => events.map(({ type }) => type);
const joined = (events: readonly TurnEvent[]) =>
  events.map((event) => (event.type === 'TextDelta' ? event.delta : '')).join('');

describe('a cursor over a stored turn', () => {
  it('gives the whole turn without a position', async () => {
    const events = await read(failedTurn, 0);
    expect(typesOf(events)).toEqual(['TurnStarted', 'TextDelta', 'TurnFailed']);
    expect(joined(events)).toBe(text);
  });

  it('goes on in the middle of a text', async () => {
    const events = await read(failedTurn, 1 + 4);
    expect(typesOf(events)).toEqual(['TextDelta', 'TurnFailed']);
    expect(joined(events)).toBe(text.slice(4));
  });

  it('has nothing to add for a reader who has seen the end', async () => {
    expect(await read(failedTurn, last)).toEqual([]);
  });

  // The process died with words that it had told but not stored: the numbers start over with the next owner.
  it.each([1, 1 + text.length, last, last + 9])(
    'tells the turn anew when another owner ends it (from %i)',
    async (after) => {
      const events = await read(runningTurn, after, { ...failedTurn, epoch: 2 });
      expect(typesOf(events.slice(-3))).toEqual(['TurnStarted', 'TextDelta', 'TurnFailed']);
      expect(joined(events.slice(-3))).toBe(text);
    },
  );

  it('waits for the rest of a turn that runs elsewhere', async () => {
    expect(typesOf(await read(runningTurn, 1 + text.length, failedTurn))).toEqual(['TurnFailed']);
  });
});
