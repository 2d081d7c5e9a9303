import { describe, expect, it } from 'vitest';
import { listedTool } from '../../../../src/agent/mcp/listed-tool.js';
import { mcpTool } from '../../../../src/agent/mcp/mcp-tool.js';

const toolOf = (listed: Readonly<Record<string, unknown>>) =>
  mcpTool(listedTool.parse({ name: 'look', inputSchema: { type: 'object' }, ...listed }), {
    server: 'files',
    name: 'files_look',
    timeoutMs: 1_000,
    call: async () => '',
  });

/** A chain in which each link refers to the next one twice: short to write, and never done with. */
const chain = (links: number, last: unknown) => ({
  type: 'object',
  properties: { a: { $ref: '#/$defs/l0' } },
  $defs: Object.fromEntries(
    Array.from({ length: links }, (_, at) => [
      `l${at}`,
      at === links - 1 ? last : { allOf: [{ $ref: `#/$defs/l${at + 1}` }, { $ref: `#/$defs/l${at + 1}` }] },
    ]),
  ),
});

describe('a tool of an MCP server', () => {
  it('is described by its own words, or by its name', () => {
    expect(toolOf({ description: ' Looks. ' }).description).toBe('Looks.');
    expect(toolOf({}).description).toBe('The tool look of files.');
    expect(toolOf({ description: 'a\0b' }).description).toBe('a\ufffdb');
  });

  it('shows its schema as it is, but for what providers refuse', () => {
    const inputSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { a: { $ref: '#/definitions/text' }, b: { type: 'string', pattern: '^x+$' } },
      required: ['a'],
      definitions: { text: { type: 'string' } },
    };
    const { $schema: _, ...shown } = inputSchema;
    const tool = toolOf({ inputSchema });
    expect(tool.parameters).toEqual(shown);
    expect(tool.read({ a: 'x' })).toEqual({ value: { a: 'x' } });
    expect(tool.read({ a: 7 })).toHaveProperty('problem');
    expect(toolOf({ inputSchema: {} }).parameters).toEqual({ type: 'object', properties: {} });
  });

  it.each([
    ['a schema that is no schema', { inputSchema: { type: 'object', properties: 7 } }],
    ['a schema of something else than an object', { inputSchema: { type: 'array' } }],
    ['a schema in another document', { inputSchema: { type: 'object', $ref: 'https://example.com/x' } }],
    ['a schema that is too large', { inputSchema: { type: 'object', description: 'x'.repeat(100_001) } }],
    ['a task', { execution: { taskSupport: 'required' } }],
  ])('cannot be one with %s', (_case, listed) => {
    expect(() => toolOf(listed)).toThrow();
  });

  it('does not hold up the process with a schema that is never done with', () => {
    expect(toolOf({ inputSchema: chain(40, { type: 'string' }) }).read({ a: 'x' })).toEqual({
      problem: expect.stringContaining('too long'),
    });
    expect(toolOf({ inputSchema: chain(3, { type: 'string' }) }).read({ a: 'x' })).toEqual({ value: { a: 'x' } });
  });
});
