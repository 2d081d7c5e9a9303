import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { countTokens, estimatePromptTokens, estimateUsage } from '../../../src/model/tokens.js';
import { cpuMilliseconds } from '../../support/cpu.js';

const prose = 'The ledger keeps one row for every call, and nobody has to trust a float. ';
const random = (length: number, pick: () => string) => Array.from({ length }, pick).join('');

describe('counting tokens', () => {
  test('is exact for short texts', () => {
    for (const text of ['hello world', prose, '漢字かな交じり文', '😀👩‍👩‍👧', 'const x = 1;\n\treturn x;']) {
      expect(countTokens(text)).toBe(encode(text).length);
    }
    expect(countTokens('')).toBe(0);
  });

  test('stays within one in a hundred for long prose, and within a tenth for what is too long to count', () => {
    const text = prose.repeat(500);
    expect(Math.abs(countTokens(text) / encode(text).length - 1)).toBeLessThan(0.01);
    const half = prose.repeat(2_000);
    const mixed = half + '漢字かな交じり文'.repeat(20_000);
    const truth = encode(half).length + 20_000 * encode('漢字かな交じり文').length;
    expect(Math.abs(countTokens(mixed) / truth - 1)).toBeLessThan(0.1);
  });

  test('is never slow, whatever the text', () => {
    countTokens('warm up');
    const hostile = [
      'a'.repeat(1_000_000),
      '\u0301'.repeat(1_000_000),
      ' '.repeat(1_000_000),
      '😀'.repeat(500_000),
      random(200_000, () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000))),
      random(200_000, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))),
    ];
    for (const text of hostile) {
      expect(cpuMilliseconds(() => expect(countTokens(text)).toBeGreaterThan(1_000))).toBeLessThan(1_000);
    }
  });

  test('takes any text, words of the tokeniser and halves of characters included', () => {
    expect(countTokens('<|endoftext|><|im_start|>')).toBeGreaterThan(2);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
        expect(countTokens(text) > 0).toBe(text !== '');
      }),
    );
    expect(countTokens('\ud83d'.repeat(2_000))).toBeGreaterThan(0);
  });
});

describe('estimates', () => {
  const request = {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello', images: [`data:image/png;base64,${'A'.repeat(100_000)}`] },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'look_up', arguments: '{"word":"ledger"}' }] },
      { role: 'tool', content: 'a book of accounts', toolCallId: 'c' },
    ],
    temperature: null,
    maxOutputTokens: null,
  } as const;

  test('a prompt counts texts, tool calls and what the format adds, and an image as an image', () => {
    const tokens = estimatePromptTokens(request.messages);
    expect(tokens).toBeGreaterThan(1_020);
    expect(tokens).toBeLessThan(1_060);
    expect(estimatePromptTokens([])).toBeGreaterThan(0);
  });

  test('usage is never zero where there was text', () => {
    expect(estimateUsage(request, 'a')).toMatchObject({ cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0 });
    expect(estimateUsage(request, '')).toMatchObject({ outputTokens: 0 });
    expect(estimateUsage(request, '').inputTokens).toBe(estimatePromptTokens(request.messages));
  });
});
