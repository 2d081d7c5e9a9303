import { describe, expect, it } from 'vitest';
import { callResult, textOf } from '../../../../src/agent/mcp/call-result.js';
import { ToolFailure } from '../../../../src/agent/tools/tool-failure.js';

const read = (answer: unknown) => textOf(callResult.parse(answer));
const text = (words: string) => ({ type: 'text', text: words });

describe('the answer of an MCP server', () => {
  it.each<[string, unknown, string]>([
    ['texts, joined', { content: [text('a'), text('b')] }, 'a\nb'],
    ['the text of a resource', { content: [{ type: 'resource', resource: { uri: 'x:', text: 'inside' } }] }, 'inside'],
    [
      'a note for what is no text',
      {
        content: [
          text('see'),
          { type: 'image', mimeType: 'image/png', data: 'AAAA' },
          { type: 'audio', data: 'A'.repeat(4_096) },
          { type: 'resource', resource: { uri: 'x:', blob: 'AAAA', mimeType: 'application/pdf' } },
          { type: 'hologram', data: 7 },
          null,
        ],
      },
      'see\n[image, image/png, 3 bytes]\n[audio, 3 KiB]\n[resource, application/pdf, 3 bytes]\n[content of an unknown kind]\n[content of an unknown kind]',
    ],
    ['no structured content beside a text', { content: [text('three')], structuredContent: { count: 3 } }, 'three'],
    [
      'structured content where there is no text',
      { content: [text(' '), { type: 'image', data: 'AAAA' }], structuredContent: { count: 3 } },
      '{"count":3}\n \n[image, 3 bytes]',
    ],
    ['nothing', { content: [] }, ''],
    ['nothing at all', {}, ''],
    ['contents that are no list', { content: 'x', isError: 'no' }, ''],
  ])('tells the model %s', (_case, answer, want) => {
    expect(read(answer)).toBe(want);
  });

  it('with an error is a failure in the words of the tool', () => {
    expect(() => read({ content: [text('No such city.')], isError: true })).toThrow(
      new ToolFailure('TOOL_ERROR', 'logic', 'No such city.'),
    );
    expect(() => read({ isError: true })).toThrow(/did not say why/);
  });

  it('has no word that is longer than it needs to be', () => {
    const { length } = read({ content: [{ type: 'resource_link', uri: 'x'.repeat(10_000), name: 'n' }] });
    expect(length).toBeLessThan(300);
  });
});
