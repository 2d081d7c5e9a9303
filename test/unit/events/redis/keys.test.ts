import { describe, expect, test } from 'vitest';
import { namespaceOf } from '../../../../src/events/redis/keys.js';

const one = namespaceOf('postgres://ada:secret@db.example:5432/chat');

describe('the namespace of a database', () => {
  test.each(['postgres://bob:other@db.example/chat', 'postgresql://db.example:5432/chat?sslmode=require'])(
    'is the same for %s',
    (url) => {
      expect(namespaceOf(url)).toBe(one);
    },
  );

  test.each([
    'postgres://ada:secret@db.example:5432/chat2',
    'postgres://ada:secret@db.example:5433/chat',
    'postgres://ada:secret@db2.example:5432/chat',
  ])('is another for %s', (url) => {
    expect(namespaceOf(url)).not.toBe(one);
  });

  test('shows nothing of its parts', () => {
    expect(one).toMatch(/^[\w-]{12}$/);
  });
});
