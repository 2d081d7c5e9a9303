import { describe, expect, it } from 'vitest';
import { readSeed } from '../../../src/chat/seed/read-seed.js';
import type { SeedMessage } from '../../../src/chat/service.js';
import { ChatError } from '../../../src/errors.js';

const now = new Date('2026-01-01T00:00:00Z');
const read = (messages: readonly SeedMessage[]) => {
  let id = 0;
  return readSeed(messages, {
    maxMessageBytes: 1_000,
    now,
    newId: () => {
      id += 1;
      return `id-${id}`;
    },
  });
};
const user = (content = 'hi'): SeedMessage => ({ role: 'USER', content });
const assistant = (content = 'hello'): SeedMessage => ({ role: 'ASSISTANT', content });
const call = (id: string, args: unknown = { city: 'Oslo' }) => ({ id, name: 'weather', arguments: args });
const calling = (...ids: string[]): SeedMessage => ({
  role: 'ASSISTANT',
  content: '',
  toolCalls: ids.map((id) => call(id)),
});
const answer = (toolCallId: string, content = '12 degrees'): SeedMessage => ({ role: 'TOOL', content, toolCallId });

function refusal(messages: readonly SeedMessage[]): string {
  try {
    read(messages);
  } catch (error) {
    if (error instanceof ChatError && error.code === 'BAD_USER_INPUT') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('reading a seed', () => {
  it('keeps order, skips system entries and counts roles', () => {
    const seed = read([
      user('a'),
      { role: 'SYSTEM', content: 'x' },
      calling('1', '2'),
      answer('2'),
      answer('1'),
      assistant('b'),
    ]);
    expect(seed.messages.map((message) => [message.role, message.content])).toEqual([
      ['USER', 'a'],
      ['ASSISTANT', ''],
      ['TOOL', '12 degrees'],
      ['TOOL', '12 degrees'],
      ['ASSISTANT', 'b'],
    ]);
    expect(seed.skippedSystemCount).toBe(1);
    expect(seed.roleCounts).toEqual({ user: 1, assistant: 2, tool: 2 });
    expect(seed.toolCalls.map((toolCall) => [toolCall.callId, toolCall.position, toolCall.result])).toEqual([
      ['1', 0, '12 degrees'],
      ['2', 1, '12 degrees'],
    ]);
  });

  it('takes an empty list', () => {
    expect(read([]).messages).toEqual([]);
  });

  it.each<[string, readonly SeedMessage[], RegExp]>([
    ['empty content', [user(), user('')], /^messages\[1\]\.content is empty/],
    ['blank content', [user(' \n\t')], /^messages\[0\]\.content is empty/],
    ['an empty assistant message without calls', [assistant('')], /^messages\[0\]\.content is empty/],
    ['an empty tool result', [calling('1'), answer('1', '')], /^messages\[1\]\.content is empty/],
    ['a NUL', [user('a\0b')], /U\+0000/],
    ['a lone surrogate', [user('\ud83d')], /surrogate/],
    ['content over the limit', [user('é'.repeat(501))], /1002 bytes of UTF-8 and the limit is 1000/],
    ['a tool message without its call', [user(), answer('1')], /^messages\[1\] answers no open tool call/],
    ['a tool message without an id', [calling('1'), { role: 'TOOL', content: 'x' }], /answers no open tool call/],
    ['a call answered twice', [calling('1'), answer('1'), answer('1')], /^messages\[2\] answers no open tool call/],
    ['a call without an answer at the end', [calling('1')], /^messages\[0\]\.toolCalls\[0\] is not answered/],
    ['a call answered after the next message', [calling('1'), user(), answer('1')], /toolCalls\[0\] is not answered/],
    ['one of two calls without an answer', [calling('1', '2'), answer('1'), user()], /toolCalls\[1\] is not answered/],
    ['the same call id twice', [calling('1', '1')], /toolCalls\[1\]\.id repeats/],
    ['calls on a user message', [{ ...user(), toolCalls: [call('1')] }], /only for ASSISTANT messages/],
    ['a call id on a user message', [{ ...user(), toolCallId: '1' }], /only for TOOL messages/],
    ['arguments that are no object', [{ ...calling(), toolCalls: [call('1', [1])] }], /must be a JSON object/],
    ['a NUL inside arguments', [{ ...calling(), toolCalls: [call('1', { a: ['\0'] })] }], /U\+0000/],
    ['an illegal function name', [{ ...calling(), toolCalls: [{ ...call('1'), name: 'a b' }] }], /letters, digits/],
    ['a time in the future', [{ ...user(), createdAt: new Date('2026-01-02') }], /lies in the future/],
    ['too many entries', Array.from({ length: 10_001 }, () => user()), /10001 entries and the limit is 10000/],
  ])('refuses %s', (_what, messages, sentence) => {
    expect(refusal(messages)).toMatch(sentence);
  });
});
