import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSseReader, type SseEvent } from '../../../src/model/sse.js';
import { cpuMilliseconds } from '../../support/cpu.js';

/** Reads a body that arrives in reads of these sizes, over and over. */
function read(body: string | Buffer, sizes: readonly number[] = [Number.MAX_SAFE_INTEGER]): SseEvent[] {
  const bytes = Buffer.from(body as string);
  const reader = createSseReader();
  const events: SseEvent[] = [];
  for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    events.push(...reader.push(bytes.subarray(from, from + size)));
    from += size;
  }
  return [...events, ...reader.end()];
}

const datas = (body: string | Buffer, sizes?: readonly number[]) => read(body, sizes).map((event) => event.data);

describe('reading server-sent events', () => {
  test('takes the forms that the standard allows', () => {
    expect(datas('data: a\n\ndata:b\n\n')).toEqual(['a', 'b']);
    expect(datas('data: a\r\n\r\ndata: b\r\rdata: c\n\n')).toEqual(['a', 'b', 'c']);
    expect(datas('data: a\ndata: b\n\n')).toEqual(['a\nb']);
    expect(datas(': ping\n\nid: 7\nretry: 5\ndata:  a\n\n\n\n')).toEqual([' a']);
    expect(read('event: error\ndata: x\n\ndata: y\n\n')).toEqual([
      { event: 'error', data: 'x' },
      { event: null, data: 'y' },
    ]);
    expect(datas('\ufeffdata: a\n\n')).toEqual(['a']);
  });

  test('delivers a last event without a blank line, even without a line end', () => {
    expect(datas('data: a\n\ndata: b\n')).toEqual(['a', 'b']);
    expect(datas('data: a\n\ndata: b')).toEqual(['a', 'b']);
    expect(datas('data: a\n\nevent: error\n')).toEqual(['a']);
  });

  test('gives the same events however the bytes are cut', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ' ', ':', 'é', '漢', '😀', '"') });
    const ending = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, ending), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
        (lines, sizes) => {
          const body = lines.map(([text, end]) => `data: ${text}${end}${end}`).join('');
          expect(datas(body, sizes)).toEqual(lines.map(([text]) => text));
        },
      ),
    );
  });

  test('an event that arrives byte by byte takes linear time', () => {
    const body = `data: ${'x'.repeat(1_000_000)}\n\n`;
    expect(cpuMilliseconds(() => expect(datas(body, [7])).toHaveLength(1))).toBeLessThan(2_000);
  });

  test('refuses an event over the limit, on one line or on many, and never what is just under it', () => {
    expect(datas(`data: ${'x'.repeat(1_048_000)}\n\n`, [4_096])).toHaveLength(1);
    expect(() => read(`data: ${'x'.repeat(1_100_000)}\n\n`)).toThrow('over the limit');
    expect(() => read(`data: ${'x'.repeat(1_100_000)}`, [4_096])).toThrow('over the limit');
    expect(() => read('data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n'.repeat(40_000), [4_096])).toThrow('over the limit');
  });

  test('many events may be larger together', () => {
    expect(datas(`data: ${'x'.repeat(100_000)}\n\n`.repeat(30), [4_096])).toHaveLength(30);
  });
});
