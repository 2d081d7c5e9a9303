import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { askUser } from '../../../src/agent/tools/ask-user.js';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import { createToolRegistry } from '../../../src/agent/tools/registry.js';
import { resultLimit, resultText } from '../../../src/agent/tools/result-text.js';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number().describe('One.'), b: z.number().default(1) }),
  sideEffect: 'write',
  run: ({ a, b }) => a + b,
});

describe('a tool', () => {
  it('is shown to the model as JSON Schema of what it may give', () => {
    expect(add.parameters).toEqual({
      type: 'object',
      properties: { a: { type: 'number', description: 'One.' }, b: { type: 'number', default: 1 } },
      required: ['a'],
    });
  });

  it('reads its arguments with defaults, and says where they are wrong', () => {
    expect(add.read({ a: 1 })).toEqual({ value: { a: 1, b: 1 } });
    expect(add.read({ a: '1', b: null })).toEqual({ problem: expect.stringMatching(/^a: .*number.*; b: .*number/) });
  });

  it('may be run again unless it writes or says otherwise', () => {
    expect(add.idempotent).toBe(false);
    const read = defineTool({
      name: 'r',
      description: '',
      parameters: z.object({}),
      sideEffect: 'read',
      run: () => '',
    });
    expect(read.idempotent).toBe(true);
  });
});

describe('the registry', () => {
  it('allows all tools, or those that a session names', () => {
    const registry = createToolRegistry([askUser, add]);
    expect(registry.allowed(null)).toEqual([askUser, add]);
    expect(registry.allowed(['add', 'gone'])).toEqual([add]);
    expect(registry.allowed([])).toEqual([]);
  });

  it('gives a tool that is to be named only to those that name it', () => {
    const shy = { ...add, name: 'shy', isOptIn: true };
    const registry = createToolRegistry([add, shy]);
    expect(registry.all()).toEqual([add, shy]);
    expect(registry.allowed(null)).toEqual([add]);
    expect(registry.allowed(['shy'])).toEqual([shy]);
  });

  it('takes no name twice, and none that a provider refuses', () => {
    expect(() => createToolRegistry([add, add])).toThrow(TypeError);
    expect(() => createToolRegistry([{ ...add, name: 'add.two' }])).toThrow(TypeError);
    expect(() => createToolRegistry([{ ...add, name: '' }])).toThrow(TypeError);
  });
});

describe('tools that come and go', () => {
  it('are those that their source has at the moment, beside the lasting ones', () => {
    let offered = [add];
    const registry = createToolRegistry([askUser], [{ tools: () => offered }]);
    expect(registry.allowed(null)).toEqual([askUser, add]);
    expect(registry.allowed(['add'])).toEqual([add]);
    offered = [];
    expect(registry.allowed(null)).toEqual([askUser]);
    expect(registry.allowed(['add'])).toEqual([]);
  });

  it('neither take the place of another tool nor bring a name that providers refuse', () => {
    const other = { ...add, description: 'Another.' };
    const source = (...tools: (typeof add)[]) => ({ tools: () => tools });
    const offered = [source({ ...add, name: 'ask_user' }, { ...add, name: 'a b' }, add), source(other)];
    expect(createToolRegistry([askUser], offered).allowed(null)).toEqual([askUser, add]);
  });
});

describe('a question', () => {
  it('has words, and choices only when there are some', () => {
    expect(askUser.read({ question: ' Where? ', choices: ['a'] })).toEqual({
      value: { question: 'Where?', choices: ['a'] },
    });
    expect(askUser.read({ question: 'Where?', choices: [] })).toEqual({ value: { question: 'Where?', choices: null } });
    for (const wrong of [{}, { question: ' ' }, { question: 'x', choices: [''] }, { question: 'x', choices: 'y' }]) {
      expect(askUser.read(wrong)).toHaveProperty('problem');
    }
  });
});

describe('a result', () => {
  it('is cut to a part of the window, without half of a character', () => {
    expect(resultText('😀'.repeat(10), 5)).toMatch(/^😀😀\n\[cut: the result has 20 characters/);
    expect(resultLimit(8_192)).toBe(4_096);
    expect(resultLimit(0)).toBe(500);
    expect(resultLimit(1_000_000)).toBe(50_000);
  });
});
