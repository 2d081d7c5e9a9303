import { describe, expect, it } from 'vitest';
import { assess, signalsOf } from '../../../../src/agent/assessment/assess.js';
import { goesOnFor } from '../../../../src/agent/assessment/next-step.js';

const answer = { finishReason: 'stop', saysSomething: true, callsTools: false, thinking: '' } as const;

describe('what the end of a thinking gives away', () => {
  it.each([
    ['uncertain', 'Paris, I think. But I am not entirely sure.'],
    ['uncertain', 'I don’t really remember the year, so I will say 1912.'],
    ['uncertain', 'This might be wrong, the figures are old.'],
    ['uncertain', '应该是巴黎，但我不太确定。'],
    ['uncertain', '我没有把握这个答案。'],
    ['wants_to_verify', 'So 17 × 23 = 391. I should double-check that.'],
    ['wants_to_verify', 'Done. Let me verify the sum.'],
    ['wants_to_verify', '结果是 391。我需要验证一下。'],
    ['missing_information', 'I need more information about their budget.'],
    ['missing_information', 'The user didn’t say which city.'],
    ['missing_information', 'I should ask the user which account is meant.'],
    ['missing_information', '用户没有说明城市，信息不足。'],
  ])('%s: %s', (signal, thinking) => {
    expect([...signalsOf(thinking)]).toContain(signal);
  });

  it.each([
    'The user is not sure about the date, so I explain both.',
    'There is no need to verify this: it is a definition.',
    'I do not need to double-check, the sum is trivial.',
    'Let me verify: 17 × 20 = 340, 17 × 3 = 51, together 391. That is correct.',
    '我需要验证一下：17 × 23 = 391。结果正确。',
    'The capital of France is Paris.',
    '法国的首都是巴黎。',
  ])('nothing: %s', (thinking) => {
    expect([...signalsOf(thinking)]).toEqual([]);
  });

  it('is looked for at the end only, since thinking goes back and forth', () => {
    expect(signalsOf(`I am not sure. I should verify it. ${'Now I know better. '.repeat(40)}`).size).toBe(0);
  });
});

describe('a reply', () => {
  it.each([
    ['that answers', {}, { completed: true, confidence: 0.9, needsClarification: false, reasons: ['answered'] }],
    ['in doubt', { thinking: 'I am not sure.' }, { completed: true, confidence: 0.54, reasons: ['uncertain'] }],
    [
      'that lacks something',
      { thinking: 'The user did not say when.' },
      { completed: true, confidence: 0.45, needsClarification: true, reasons: ['missing_information'] },
    ],
    ['that is to be checked', { thinking: 'I should verify it.' }, { completed: false, reasons: ['wants_to_verify'] }],
    ['with calls', { callsTools: true, finishReason: 'tool_calls' }, { completed: false, reasons: ['tool_calls'] }],
    ['that was cut', { finishReason: 'length' }, { completed: false, confidence: null, reasons: ['length'] }],
    ['that was blocked', { finishReason: 'content_filter' }, { completed: false, reasons: ['content_filter'] }],
    ['without words', { saysSomething: false }, { completed: false, reasons: ['empty_reply'] }],
    ['without an end', { finishReason: null }, { completed: false, reasons: ['no_finish_reason'] }],
  ] as const)('%s is judged by its facts', (_what, facts, judged) => {
    expect(assess({ ...answer, ...facts })).toMatchObject(judged);
  });
});

describe('a turn', () => {
  const free = { mayGoOn: true, hasVerified: false, isLengthWanted: false };
  const cut = assess({ ...answer, finishReason: 'length' });
  const unchecked = assess({ ...answer, thinking: 'I should verify it.' });

  it.each([
    ['goes on when its reply was cut', cut, free, 'length'],
    ['ends with a length that its client wanted', cut, { ...free, isLengthWanted: true }, null],
    ['ends when it has no step left', cut, { ...free, mayGoOn: false }, null],
    ['checks its reply', unchecked, free, 'verify'],
    ['checks it once', unchecked, { ...free, hasVerified: true }, null],
    ['ends with an answer', assess(answer), free, null],
  ] as const)('%s', (_what, assessment, standing, goesOn) => {
    expect(goesOnFor(assessment, standing)).toBe(goesOn);
  });
});
