import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/port.js';
import { toWireRequest } from '../../../src/model/wire-request.js';

const request = (fields: Partial<ModelRequest>): ModelRequest => ({
  model: 'm',
  messages: [],
  temperature: null,
  maxOutputTokens: null,
  ...fields,
});

describe('the body of a request', () => {
  test('asks for a stream with usage and leaves out what was not asked for', () => {
    expect(toWireRequest(request({}), true)).toEqual({
      model: 'm',
      messages: [],
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(toWireRequest(request({ temperature: 0 }), true)).toMatchObject({ temperature: 0 });
    expect(toWireRequest(request({ tools: [] }), true)).not.toHaveProperty('tools');
  });

  test('offers tools as functions', () => {
    const tool = { name: 'f', description: 'Does it.', parameters: { type: 'object', properties: {} } };
    expect(toWireRequest(request({ tools: [tool] }), true).tools).toEqual([{ type: 'function', function: tool }]);
  });

  test.each([
    ['gpt-4o', true, 'max_completion_tokens'],
    ['llama3.2', false, 'max_tokens'],
    ['gpt-oss:20b', false, 'max_tokens'],
    ['openai/gpt-5-mini', false, 'max_completion_tokens'],
    ['gpt-10-luna', false, 'max_completion_tokens'],
    ['o4-mini', false, 'max_completion_tokens'],
    ['gpt-4o', false, 'max_tokens'],
    ['olmo-2', false, 'max_tokens'],
  ])('limits the output of %s (OpenAI itself: %s) by %s', (model, isOpenAi, name) => {
    const body = toWireRequest(request({ model, maxOutputTokens: 9 }), isOpenAi) as unknown as Record<string, unknown>;
    expect(body[name]).toBe(9);
    expect(Object.keys(body).filter((key) => key.startsWith('max_'))).toEqual([name]);
  });

  test('writes every kind of message as the protocol has it', () => {
    const { messages } = toWireRequest(
      request({
        messages: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'u', images: [] },
          { role: 'user', content: 'look', images: ['https://example.com/a.png'] },
          { role: 'user', content: ' ', images: ['data:image/png;base64,AA=='] },
          { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'f', arguments: '{}' }] },
          { role: 'tool', content: 'r', toolCallId: 'c1' },
          { role: 'assistant', content: 'done', toolCalls: [] },
        ],
      }),
      true,
    );
    expect(messages).toEqual([
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ],
      },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', content: 'r', tool_call_id: 'c1' },
      { role: 'assistant', content: 'done' },
    ]);
  });
});
