import { describe, expect, it } from 'vitest';
import { categoryOf, remedyFor } from '../../../../src/agent/diagnosis/advice.js';

const remedies = (...[category, canAsk]: [Parameters<typeof remedyFor>[0], boolean]) =>
  [1, 2, 3, 4, 5, 6, 99].map((failures) => remedyFor(category, failures, canAsk));

describe('the advice after failures in a row', () => {
  it('escalates from other arguments to giving up, and stays there', () => {
    expect(remedies('tool_error', true)).toEqual([
      'change_arguments',
      'other_tool',
      'ask_user',
      'give_up',
      'give_up',
      'give_up',
      'give_up',
    ]);
  });

  it('never sends a model to the user that cannot ask', () => {
    expect(remedies('arguments', false)).not.toContain('ask_user');
    expect(remedies('arguments', false).at(-1)).toBe('give_up');
  });

  it('does not repeat what the user has denied or left unanswered', () => {
    expect(remedyFor('denied', 1, true)).toBe('other_tool');
    expect(remedyFor('unanswered', 1, true)).toBe('give_up');
  });
});

it.each([
  ['INVALID_ARGUMENTS', 'arguments'],
  ['UNKNOWN_TOOL', 'unknown_tool'],
  ['SOMETHING_NEW', 'tool_error'],
  [null, 'tool_error'],
])('the code %s is a failure of the kind %s', (code, category) => {
  expect(categoryOf(code)).toBe(category);
});

it.each([
  ['validation', 'arguments'],
  ['timeout', 'timeout'],
  ['transport', 'unreachable'],
  ['logic', 'tool_error'],
] as const)('what a tool says is told apart by its category: %s is %s', (failure, category) => {
  expect(categoryOf('CODE_OF_ITS_OWN', failure)).toBe(category);
});
