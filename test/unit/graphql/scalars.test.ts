import fc from 'fast-check';
import { type GraphQLScalarType, parseValue } from 'graphql';
import { describe, expect, it } from 'vitest';
import { dateTimeScalar } from '../../../src/graphql/scalars/date-time.js';
import { jsonLimits, jsonScalar } from '../../../src/graphql/scalars/json.js';
import { safeIntScalar } from '../../../src/graphql/scalars/safe-int.js';

const literal = (scalar: GraphQLScalarType, text: string, variables: Record<string, unknown> = {}) =>
  scalar.parseLiteral(parseValue(text), variables);

/** A list inside a list, `depth` levels of them. */
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
};

describe('JSON', () => {
  it('takes any JSON as a variable and gives it back unchanged', () => {
    const json = fc.jsonValue({ maxDepth: 5, noUnicodeString: false }).filter((value) => {
      const text = JSON.stringify(value);
      return text.isWellFormed() && !text.includes('\\u0000') && !/\\ud[89a-f]/i.test(text) && !/\d{16}|e\+/.test(text);
    });
    fc.assert(
      fc.property(json, (value) => {
        expect(jsonScalar.parseValue(value)).toEqual(value);
      }),
    );
  });

  it('reads a literal of the document like the same JSON in a variable', () => {
    expect(literal(jsonScalar, '{a: [1, -2.5, "x", true, null], b: {c: $v}}', { v: 'deep' })).toEqual({
      a: [1, -2.5, 'x', true, null],
      b: { c: 'deep' },
    });
  });

  it('keeps __proto__ a key and changes no prototype', () => {
    const value = literal(jsonScalar, '{__proto__: {polluted: true}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((value as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ['nested one level too deep', nested(jsonLimits.depth + 1), /nested/],
    ['nested two hundred thousand levels deep', nested(200_000), /nested/],
    ['with too many values', Array.from({ length: jsonLimits.values }, () => 1), /values/],
    ['with too much text', 'x'.repeat(jsonLimits.text + 1), /characters of text/],
    ['with too much text in keys', { ['x'.repeat(jsonLimits.text + 1)]: 1 }, /characters of text/],
    ['with a NUL in a text', { a: ['b\0'] }, /U\+0000/],
    ['with a NUL in a key', { 'a\0': 1 }, /U\+0000/],
    ['with half a surrogate pair', ['\ud800'], /surrogate/],
    ['with a whole number that has lost digits', 9007199254740992, /2\^53/],
    ['with a number beyond all', Number.POSITIVE_INFINITY, /number/],
  ])('refuses a value %s', (_what, value, message) => {
    expect(() => jsonScalar.parseValue(value)).toThrow(message);
  });

  it('takes a value at every limit', () => {
    expect(jsonScalar.parseValue(nested(jsonLimits.depth))).toBeDefined();
    expect(jsonScalar.parseValue(Array.from({ length: jsonLimits.values - 1 }, () => 1))).toBeDefined();
    expect(jsonScalar.parseValue('x'.repeat(jsonLimits.text))).toBeDefined();
    expect(jsonScalar.parseValue(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['{a: 9007199254740993}', /2\^53/],
    ['{a: 1e999}', /number/],
    ['{a: OPEN}', /quotation/],
    [`${'['.repeat(40)}1${']'.repeat(40)}`, /nested/],
  ])('refuses the literal %s', (text, message) => {
    expect(() => literal(jsonScalar, text)).toThrow(message);
  });
});

describe('SafeInt', () => {
  it('takes every whole number up to 2^53 - 1 exactly, and nothing else', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(safeIntScalar.parseValue(value)).toBe(value);
        expect(literal(safeIntScalar, String(value))).toBe(value);
        expect(safeIntScalar.serialize(value)).toBe(value);
      }),
    );
    for (const value of [
      9007199254740992,
      -9007199254740992,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '5',
      true,
      5n,
    ]) {
      expect(() => safeIntScalar.parseValue(value), String(value)).toThrow();
    }
    for (const text of ['9007199254740993', '1.0', '1e3', '"5"', 'true']) {
      expect(() => literal(safeIntScalar, text), text).toThrow();
    }
  });
});

describe('DateTime', () => {
  it('answers in UTC with milliseconds', () => {
    expect(dateTimeScalar.serialize(new Date('2026-11-30T09:15:00+01:00'))).toBe('2026-11-30T08:15:00.000Z');
  });

  it('takes any offset and leads back to the same instant', () => {
    const at = fc.date({
      noInvalidDate: true,
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
    });
    fc.assert(
      fc.property(at, (date) => {
        expect(dateTimeScalar.parseValue(date.toISOString())).toEqual(date);
        expect(dateTimeScalar.serialize(date)).toBe(date.toISOString());
      }),
    );
    expect(literal(dateTimeScalar, '"2026-11-30T09:15:00.5+01:00"')).toEqual(new Date('2026-11-30T08:15:00.500Z'));
  });

  it.each([
    'yesterday',
    '',
    '2026-11-30',
    '2026-11-30T09:15:00',
    '2026-02-30T09:15:00Z',
    '2026-11-30T25:00:00Z',
    '0000-01-01T00:00:00Z',
    '+275760-09-13T00:00:00Z',
  ])('refuses %j', (text) => {
    expect(() => dateTimeScalar.parseValue(text)).toThrow();
  });

  it('refuses numbers, which could be seconds or milliseconds', () => {
    expect(() => dateTimeScalar.parseValue(1_764_465_600)).toThrow();
    expect(() => literal(dateTimeScalar, '1764465600')).toThrow();
  });
});
