import { describe, expect, test } from 'vitest';
import { assertValidHistory, historyProblems } from '../../support/history.js';

const call = (id: string, args = '{}') => ({ id, type: 'function', function: { name: 'tool', arguments: args } });
const user = { role: 'user', content: 'hi' };

describe('the history validator', () => {
  test('takes a prompt with system message, parallel tool calls and images', () => {
    assertValidHistory([
      { role: 'system', content: 'be kind' },
      user,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'assistant', content: 'done' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
    ]);
  });

  test.each([
    ['no messages', [], /no messages/],
    ['a late system prompt', [user, { role: 'system', content: 'x' }, user], /first and once/],
    [
      'two system prompts',
      [{ role: 'system', content: 'x' }, { role: 'system', content: 'x' }, user],
      /first and once/,
    ],
    ['a blank user message', [{ role: 'user', content: ' \n' }], /is blank/],
    ['blank parts', [{ role: 'user', content: [{ type: 'text', text: ' ' }] }], /is blank/],
    ['an empty assistant message', [user, { role: 'assistant', content: '' }, user], /neither text nor tool calls/],
    ['an empty list of calls', [user, { role: 'assistant', content: 'a', tool_calls: [] }, user], /empty list/],
    ['an orphan result', [user, { role: 'tool', tool_call_id: 'a', content: '1' }], /answers no open call/],
    [
      'a call answered twice',
      [
        user,
        { role: 'assistant', tool_calls: [call('a')] },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'tool', tool_call_id: 'a', content: '1' },
      ],
      /answers no open call/,
    ],
    ['a call left open', [user, { role: 'assistant', tool_calls: [call('a')] }, user], /before the results of a/],
    ['a call open at the end', [user, { role: 'assistant', tool_calls: [call('a')] }], /without the results of a/],
    ['two calls with one id', [user, { role: 'assistant', tool_calls: [call('a'), call('a')] }], /two tool calls/],
    ['arguments that are cut', [user, { role: 'assistant', tool_calls: [call('a', '{"x":')] }], /not JSON/],
    ['an assistant message at the end', [user, { role: 'assistant', content: 'a' }], /must end with/],
  ])('refuses %s', (_name, messages, problem) => {
    expect(historyProblems(messages).join('\n')).toMatch(problem);
    expect(() => assertValidHistory(messages)).toThrow(problem);
  });
});
