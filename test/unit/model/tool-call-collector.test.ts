import { describe, expect, it } from 'vitest';
import { createToolCallCollector } from '../../../src/model/tool-call-collector.js';
import type { ToolCallPiece } from '../../../src/model/wire-chunk.js';

const piece = (fields: Partial<ToolCallPiece>): ToolCallPiece => ({
  index: 0,
  id: '',
  name: '',
  arguments: '',
  ...fields,
});

function collect(pieces: readonly Partial<ToolCallPiece>[], isCut = false) {
  const collector = createToolCallCollector();
  for (const fields of pieces) collector.add(piece(fields));
  return collector.calls(isCut);
}
const brief = (pieces: readonly Partial<ToolCallPiece>[]) =>
  collect(pieces).map((call) => `${call.id} ${call.name} ${call.arguments}`);

describe('tool calls in pieces', () => {
  it.each<[string, readonly Partial<ToolCallPiece>[], readonly string[]]>([
    ['as OpenAI sends them', [{ id: 'a', name: 'f' }, { arguments: '{"x"' }, { arguments: ':1}' }], ['a f {"x":1}']],
    [
      'several in turns',
      [
        { index: 0, id: 'a', name: 'f' },
        { index: 1, id: 'b', name: 'g' },
        { index: 0, arguments: '{"x":1}' },
        { index: 1, arguments: '{}' },
      ],
      ['a f {"x":1}', 'b g {}'],
    ],
    [
      'whole and without numbers',
      [
        { index: null, id: 'a', name: 'f', arguments: '{"x":1}' },
        { index: null, id: 'b', name: 'f', arguments: '{}' },
      ],
      ['a f {"x":1}', 'b f {}'],
    ],
    [
      'whole, without numbers and ids',
      [
        { index: null, name: 'f', arguments: '{"x":1}' },
        { index: null, name: 'f', arguments: '{"x":2}' },
      ],
      [' f {"x":1}', ' f {"x":2}'],
    ],
    [
      'all under the same number',
      [
        { id: 'a', name: 'f', arguments: '{}' },
        { id: 'b', name: 'g', arguments: '{"y":2}' },
      ],
      ['a f {}', 'b g {"y":2}'],
    ],
    [
      'with the name in pieces',
      [{ id: 'a', name: 'get_' }, { name: 'weather' }, { arguments: '{}' }],
      ['a get_weather {}'],
    ],
    [
      'with id and name in every piece',
      [
        { id: 'a', name: 'f', arguments: '{"x"' },
        { id: 'a', name: 'f', arguments: ':1}' },
      ],
      ['a f {"x":1}'],
    ],
    ['with the id in a later piece', [{ name: 'f' }, { id: 'a', arguments: '{}' }], ['a f {}']],
    ['without arguments', [{ id: 'a', name: 'f' }], ['a f ']],
  ])('are put together: %s', (_how, pieces, want) => {
    expect(brief(pieces)).toEqual(want);
  });

  it('lose nothing to the count, and count nothing twice', () => {
    const collector = createToolCallCollector();
    const added = [
      piece({ id: 'a', name: 'f', arguments: '{"x"' }),
      piece({ id: 'a', name: 'f', arguments: ':1}' }),
    ].map((one) => collector.add(one));
    expect(added.join('')).toBe('f{"x":1}');
  });

  it('can be stored, whatever is in them', () => {
    const [call] = collect([{ id: 'a\0', name: 'f\ud800', arguments: '{"x":"\0' }, { arguments: '"}' }]);
    expect(call).toMatchObject({ id: 'a\ufffd', name: 'f\ufffd', arguments: '{"x":"\ufffd"}' });
  });

  it.each([
    ['the last one, in the middle', ['{"x":1}', '{"y"'], [false, true]],
    ['none, when the last one is whole', ['{"x":1}', '{"y":2}'], [false, false]],
    ['the last one, before its arguments', ['{"x":1}', ''], [false, true]],
  ])('that the output limit has cut: %s', (_which, texts, want) => {
    const pieces = texts.map((text, index) => ({ index, id: `c${index}`, name: 'f', arguments: text }));
    expect(collect(pieces, true).map(({ isTruncated }) => isTruncated)).toEqual(want);
    expect(collect(pieces, false).some(({ isTruncated }) => isTruncated)).toBe(false);
  });
});
