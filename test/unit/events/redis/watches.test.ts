import { describe, expect, test } from 'vitest';
import type { FeedBatch } from '../../../../src/events/feed.js';
import { type ReadPosition, type StreamEntry, Watches } from '../../../../src/events/redis/watches.js';

const entry = (ms: number, number = 0): StreamEntry => ({ id: `${ms}-${number}`, message: {} });
const decode = ({ id }: StreamEntry): FeedBatch[] => [{ turnId: id, epoch: 1, from: 0, events: [] }];

/** Watches with one watch of turn `t`; a batch is known by the id of its entry. */
function watchOne() {
  const errors: unknown[] = [];
  const watches = new Watches((error) => errors.push(error));
  const told: string[] = [];
  const end = watches.add('t', ({ turnId }) => told.push(turnId));
  const position = () => watches.positions()[0]?.[1] as ReadPosition;
  const tell = (from: ReadPosition, ...entries: StreamEntry[]) => watches.tell('t', from, entries, decode);
  return { watches, told, errors, end, position, tell };
}

describe('watches', () => {
  test('read on from the last entry that was told', () => {
    const { position, tell, told } = watchOne();
    expect(position().id).toBe('0-0');
    tell(position(), entry(9, 9), entry(9, 10), entry(10));
    expect(position().id).toBe('10-0');
    tell(position());
    expect(position().id).toBe('10-0');
    expect(told).toEqual(['9-9', '9-10', '10-0']);
  });

  test('read a turn from its beginning for one that joins, and tell the others nothing twice', () => {
    const { watches, position, tell, told } = watchOne();
    tell(position(), entry(1), entry(2));
    const joined: string[] = [];
    watches.add('t', ({ turnId }) => joined.push(turnId));
    expect(position().id).toBe('0-0');
    tell(position(), entry(1), entry(2), entry(3));
    expect(joined).toEqual(['1-0', '2-0', '3-0']);
    expect(told).toEqual(['1-0', '2-0', '3-0']);
  });

  test('ignore a read that was under way when one joined', () => {
    const { watches, position, tell, told } = watchOne();
    const before = position();
    const joined: string[] = [];
    watches.add('t', ({ turnId }) => joined.push(turnId));
    tell(before, entry(5));
    expect([told, joined, position().id]).toEqual([[], [], '0-0']);
  });

  test('stop in the middle of a read when a listener starts another watch', () => {
    const { watches, position, tell } = watchOne();
    const [first, second]: string[][] = [[], []];
    watches.add('t', ({ turnId }) => {
      first?.push(turnId);
      if (first?.length === 1) watches.add('t', (batch) => second?.push(batch.turnId));
    });
    tell(position(), entry(1), entry(2));
    expect([first, second]).toEqual([['1-0'], []]);
    tell(position(), entry(1), entry(2));
    expect([first, second]).toEqual([
      ['1-0', '2-0'],
      ['1-0', '2-0'],
    ]);
  });

  test('forget a turn with its last watch', () => {
    const { watches, position, tell, told, end } = watchOne();
    const endOther = watches.add('t', () => undefined);
    end();
    expect(watches.positions()).toHaveLength(1);
    const under = position();
    endOther();
    expect(watches.positions()).toEqual([]);
    tell(under, entry(1));
    watches.add('t', () => undefined);
    end();
    endOther();
    expect(watches.positions()).toHaveLength(1);
    expect(told).toEqual([]);
  });

  test('go on when a listener throws', () => {
    const { watches, position, tell, told, errors } = watchOne();
    watches.add('t', () => {
      throw new Error('a bug');
    });
    tell(position(), entry(1));
    expect(told).toEqual(['1-0']);
    expect(errors).toEqual([new Error('a bug')]);
  });
});
