import { describe, expect, test } from 'vitest';
import { Outbox } from '../../../../src/events/redis/outbox.js';

function openOutbox(limits = { size: 100, signals: 10 }) {
  const drops: { number: number; full: boolean }[] = [];
  const outbox = new Outbox(limits, (number, full) => drops.push({ number, full }));
  outbox.open();
  return { outbox, drops };
}

describe('an outbox', () => {
  test('gives what was added by turn and in order, each signal once', () => {
    const { outbox } = openOutbox();
    outbox.addBatch('a', '1');
    outbox.addBatch('b', '2');
    outbox.addBatch('a', '3');
    outbox.addSignal('s');
    outbox.addSignal('s');
    const { batches, signals, wake } = outbox.take();
    expect([...batches]).toEqual([
      ['a', ['1', '3']],
      ['b', ['2']],
    ]);
    expect([...signals]).toEqual(['s']);
    expect(wake).toBe(false);
  });

  test('drops what does not fit, and says that it is full', () => {
    const { outbox, drops } = openOutbox({ size: 10, signals: 2 });
    outbox.addBatch('a', '12345');
    outbox.addBatch('b', '67890');
    outbox.addBatch('a', 'x');
    for (const signal of ['r', 's', 't']) outbox.addSignal(signal);
    expect(drops).toEqual([
      { number: 1, full: true },
      { number: 1, full: true },
    ]);
    outbox.take();
    outbox.addBatch('a', '1234567890');
    expect(drops).toHaveLength(2);
    expect(outbox.take().batches.get('a')).toEqual(['1234567890']);
  });

  test('drops everything while it is shut, and what was on its way when it was shut', () => {
    const { outbox, drops } = openOutbox();
    outbox.addBatch('a', 'taken');
    outbox.take();
    outbox.addBatch('a', 'waiting');
    outbox.addSignal('s');
    outbox.shut();
    outbox.addBatch('a', 'late');
    outbox.addWake();
    outbox.open();
    outbox.addBatch('a', 'new');
    expect(drops).toEqual([
      { number: 3, full: false },
      { number: 1, full: false },
    ]);
    expect(outbox.take()).toMatchObject({ batches: new Map([['a', ['new']]]), wake: false });
  });

  test('is drained once all of it has arrived, or was dropped', async () => {
    const { outbox } = openOutbox();
    await outbox.drained();
    let drained = false;
    outbox.addBatch('a', '1');
    const draining = outbox.drained().then(() => {
      drained = true;
    });
    outbox.take();
    outbox.addBatch('a', '2');
    outbox.sent();
    await new Promise((resolve) => setImmediate(resolve));
    expect(drained).toBe(false);
    outbox.take();
    outbox.sent();
    await draining;
    outbox.addBatch('a', '3');
    const dropping = outbox.drained();
    outbox.shut();
    await dropping;
  });

  test('wakes its sender for everything that is added, and when it is shut', async () => {
    const { outbox } = openOutbox();
    const adds = [() => outbox.addBatch('a', '1'), () => outbox.addSignal('s'), () => outbox.addWake()];
    for (const add of adds) {
      const filled = outbox.filled();
      add();
      await filled;
      await outbox.filled();
      outbox.take();
    }
    const filled = outbox.filled();
    outbox.shut();
    await filled;
    await outbox.filled();
  });
});
