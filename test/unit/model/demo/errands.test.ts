import { expect, it } from 'vitest';
import { readConversation } from '../../../../src/model/demo/conversation.js';
import { replyTo } from '../../../../src/model/demo/reply.js';

const tools = ['order_pizza', 'current_time'].map((name) => ({ type: 'function', function: { name, parameters: {} } }));

function replyAfter(message: string, call?: { name: string; result: string }, offered: readonly unknown[] = tools) {
  const messages = [
    { role: 'user', content: message },
    ...(call
      ? [
          { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: call.name, arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'c1', content: call.result },
        ]
      : []),
  ];
  const conversation = readConversation({ messages, tools: offered });
  return conversation && replyTo(conversation);
}

it('orders a pizza by the tool for it, and says what became of that', () => {
  expect(replyAfter('Please order me a pizza funghi')?.call).toEqual({
    name: 'order_pizza',
    arguments: { kind: 'funghi' },
  });
  const paid = replyAfter('Order a pizza', { name: 'order_pizza', result: 'One pizza is on its way.' });
  expect(paid?.text).toMatch(/^One pizza is on its way\. You have allowed it/);
  const denied = replyAfter('Order a pizza', { name: 'order_pizza', result: 'Not run: the user did not allow it.' });
  expect(denied?.text).toMatch(/^Then there will be no pizza/);
  expect(replyAfter('Order a pizza', undefined, [])?.call).toBeUndefined();
});

it('reads the clock of the server', () => {
  expect(replyAfter('What time is it?')?.call).toEqual({ name: 'current_time', arguments: {} });
  const result = '{"utc":"2026-02-28T23:59:59Z","weekday":"Saturday"}';
  expect(replyAfter('What time is it?', { name: 'current_time', result })?.text).toBe(
    'It is Saturday, 2026-02-28T23:59:59Z.',
  );
  expect(replyAfter('What time is it?', undefined, [])?.call).toBeUndefined();
});

it('offers an approval in its help only where it can show one', () => {
  expect(replyAfter('help')?.text).toContain('Order a pizza');
  expect(replyAfter('help', undefined, [])?.text).not.toContain('pizza');
});
