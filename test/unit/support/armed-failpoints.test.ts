import { expect, test } from 'vitest';
import { type ArmedFailpoint, createArmedFailpoints, readFailpoints } from '../../support/armed-failpoints.js';

test('a failpoint is read with its defaults', () => {
  expect(readFailpoints('')).toEqual([]);
  expect(readFailpoints('after-accept,after-flush:3:stop')).toEqual([
    { name: 'after-accept', hit: 1, action: 'kill' },
    { name: 'after-flush', hit: 3, action: 'stop' },
  ]);
});

test.each(['after-lunch', 'after-flush:0', 'after-flush:x', 'after-flush:1:explode', 'after-flush:1:kill:2'])(
  'no failpoint is made of %s',
  (text) => {
    expect(() => readFailpoints(text)).toThrow(`not a failpoint: ${text}`);
  },
);

test('an armed failpoint acts at its hit, once, counted from when it was armed', async () => {
  const acted: ArmedFailpoint[] = [];
  const points = createArmedFailpoints((point) => acted.push(point));
  await points.failpoint('after-flush');
  points.arm(readFailpoints('after-flush:2,after-accept'));
  await points.failpoint('after-flush');
  expect(acted).toEqual([]);
  await points.failpoint('after-flush');
  await points.failpoint('after-flush');
  await points.failpoint('after-flush');
  expect(acted.map(({ name }) => name)).toEqual(['after-flush']);
  await points.failpoint('after-accept');
  expect(acted.map(({ name }) => name)).toEqual(['after-flush', 'after-accept']);
});
