import { describe, expect, test } from 'vitest';
import { readUsage } from '../../../src/model/wire-usage.js';

const usage = (fields: object) => ({ prompt_tokens: 100, completion_tokens: 266, ...fields });

describe('usage as providers report it', () => {
  test('counts cached and reasoning tokens as parts, once', () => {
    expect(
      readUsage(
        usage({
          total_tokens: 366,
          prompt_tokens_details: { cached_tokens: 64 },
          completion_tokens_details: { reasoning_tokens: 261 },
        }),
      ),
    ).toEqual({ inputTokens: 100, cachedInputTokens: 64, outputTokens: 266, reasoningTokens: 261 });
  });

  test('adds reasoning that a gateway counts beside the completion', () => {
    expect(readUsage(usage({ total_tokens: 466, completion_tokens_details: { reasoning_tokens: 100 } }))).toMatchObject(
      {
        outputTokens: 366,
        reasoningTokens: 100,
      },
    );
  });

  test('takes broken parts for nothing, so the whole is charged in full', () => {
    for (const part of [-1, 1.5, '7', null, 1e300]) {
      expect(
        readUsage(
          usage({
            prompt_tokens_details: { cached_tokens: part },
            completion_tokens_details: { reasoning_tokens: part },
          }),
        ),
      ).toEqual({ inputTokens: 100, cachedInputTokens: 0, outputTokens: 266, reasoningTokens: 0 });
    }
    expect(readUsage(usage({ prompt_tokens_details: { cached_tokens: 101 } }))?.cachedInputTokens).toBe(0);
    expect(readUsage(usage({ prompt_tokens_details: null, completion_tokens_details: 7 }))).not.toBeNull();
  });

  test.each([
    null,
    undefined,
    7,
    'usage',
    [],
    {},
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: 5 },
    { prompt_tokens: -5, completion_tokens: 5 },
    { prompt_tokens: 5, completion_tokens: 1.5 },
    { prompt_tokens: '5', completion_tokens: 5 },
    { prompt_tokens: 2 ** 53, completion_tokens: 5 },
    { prompt_tokens: 9_007_199_254_740_000, completion_tokens: 5 },
    { prompt_tokens: 1_000_000_001, completion_tokens: 5 },
    { prompt_tokens: 5, completion_tokens: 1_000_000_001 },
    {
      prompt_tokens: 5,
      completion_tokens: 600_000_000,
      total_tokens: 1_200_000_005,
      completion_tokens_details: { reasoning_tokens: 600_000_000 },
    },
    { prompt_tokens: Number.NaN, completion_tokens: 5 },
  ])('refuses %j', (report) => {
    expect(readUsage(report)).toBeNull();
  });

  test('takes figures up to a thousand million', () => {
    expect(readUsage({ prompt_tokens: 1_000_000_000, completion_tokens: 1_000_000_000 })).toMatchObject({
      inputTokens: 1_000_000_000,
      outputTokens: 1_000_000_000,
    });
  });
});
