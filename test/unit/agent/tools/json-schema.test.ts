import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../../src/agent/tools/define-tool.js';
import { type JsonSchema, readerOf } from '../../../../src/agent/tools/json-schema.js';

const read = (schema: JsonSchema, given: Record<string, unknown>) => readerOf({ type: 'object', ...schema })(given);

const city = {
  properties: {
    city: { type: 'string', minLength: 1 },
    days: { type: 'integer', minimum: 1 },
    unit: { enum: ['C', 'F'] },
  },
  required: ['city'],
  additionalProperties: false,
};

describe('a JSON Schema of parameters', () => {
  it('lets arguments through as they are', () => {
    const given = { city: 'Rome', days: 3, unit: 'C' };
    expect(read(city, given)).toEqual({ value: given });
  });

  it('says all that is wrong at once, and where', () => {
    expect(read(city, { days: '3', unit: 'K', more: 1 })).toEqual({
      problem: [
        "arguments: must have required property 'city'",
        'arguments: must NOT have additional properties: "more"',
        'days: must be integer',
        'unit: must be equal to one of the allowed values: ["C","F"]',
      ].join('; '),
    });
  });

  it('is checked to its depth, by references too', () => {
    const schema = {
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { left: { $ref: '#/$defs/node' }, value: { type: 'number' } } } },
    };
    expect(read(schema, { tree: { left: { left: { value: 'x' } } } })).toEqual({
      problem: 'tree.left.left.value: must be number',
    });
  });

  it.each<[string, JsonSchema]>([
    ['with a type that is none', { properties: { a: { type: 'numbr' } } }],
    ['with a keyword of the wrong kind, deep inside', { properties: { a: { items: { required: 'b' } } } }],
    ['that refers to another document', { properties: { a: { $ref: 'https://example.com/schema' } } }],
    ['of something that is no object', { type: 'array' }],
  ])('is refused %s', (_case, schema) => {
    expect(() => read(schema, {})).toThrow();
  });

  it('takes unknown keywords and formats, and older dialects', () => {
    expect(read({ 'x-order': 1, properties: { a: { format: 'duration-ish', type: 'string' } } }, { a: 'x' })).toEqual({
      value: { a: 'x' },
    });
    const older = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { a: { type: 'array', items: [{ type: 'string' }] } },
    };
    expect(read(older, { a: [1] })).toEqual({ problem: 'a.0: must be string' });
  });

  it('costs no time by an expression that does not end', () => {
    const evil = { properties: { a: { type: 'string', pattern: '^(a+)+$' } }, patternProperties: { '^(a+)+$': {} } };
    expect(read(evil, { a: `${'a'.repeat(5_000)}!`, [`${'a'.repeat(5_000)}!`]: 1 })).toHaveProperty('value');
  });

  it('that goes in circles lets nothing through', () => {
    expect(read({ allOf: [{ $ref: '#' }] }, {})).toEqual({ problem: 'arguments: cannot be checked' });
  });

  it('keeps nothing of the schemas it has seen', () => {
    const schema = { type: 'object', $id: 'https://example.com/same', properties: {} };
    for (let time = 0; time < 3; time += 1) expect(readerOf({ ...schema })({})).toEqual({ value: {} });
  });
});

describe('a tool with a plain schema', () => {
  it('is shown with it, and checks by it', () => {
    const parameters = { type: 'object', ...city };
    const tool = defineTool({
      name: 'weather',
      description: 'Weather.',
      parameters,
      sideEffect: 'read',
      run: (args) => args.city,
    });
    expect(tool).toMatchObject({ parameters, origin: 'server', requiresApproval: false, idempotent: true, retries: 2 });
    expect(tool.read({ city: 7 })).toEqual({ problem: 'city: must be string' });
    expect(tool.run({ city: 'Rome' }, {} as never)).toBe('Rome');
  });

  it('is not made of a schema that is none, nor with retries of what may not be run twice', () => {
    const base = { name: 'x', description: '', run: () => '' };
    expect(() => defineTool({ ...base, sideEffect: 'read', parameters: { type: 'string' } })).toThrow(TypeError);
    const parameters = { type: 'object' };
    expect(() => defineTool({ ...base, sideEffect: 'write', retries: 1, parameters })).toThrow(TypeError);
    expect(defineTool({ ...base, sideEffect: 'write', idempotent: true, retries: 1, parameters }).retries).toBe(1);
    expect(defineTool({ ...base, sideEffect: 'write', parameters }).retries).toBe(0);
  });
});
