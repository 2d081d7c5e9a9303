import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { TokenCounts } from '../../../../src/agent/context/token-counts.js';
import { chooseTools, toolsTokens } from '../../../../src/agent/context/tool-choice.js';
import { askUser } from '../../../../src/agent/tools/ask-user.js';
import { defineTool } from '../../../../src/agent/tools/define-tool.js';
import { callableTools, foundNames } from '../../../../src/agent/tools/find-tools.js';
import { createToolRegistry } from '../../../../src/agent/tools/registry.js';
import { searchTools } from '../../../../src/agent/tools/search-tools.js';
import type { ServerTool } from '../../../../src/agent/tools/tool.js';

const counts = new TokenCounts();
const tool = (name: string, description: string) =>
  defineTool({ name, description, parameters: z.object({ id: z.string() }), sideEffect: 'read', run: () => '' });

const things = ['invoice', 'ticket', 'harbour', 'ferry', 'customer', 'parcel', 'weather', 'train', 'flight', 'hotel'];
const many = [
  ...things.flatMap((thing) => [
    tool(`read_${thing}`, `Reads a ${thing} by its id, with everything that is known of it in the archive.`),
    tool(`list_${thing}s`, `Lists what there is of ${thing}s, newest first, with their ids.`),
  ]),
  tool('translate', '翻译一段文字。'),
  askUser,
];
const registry = createToolRegistry(many);
const facts = { toolNames: null, clientTools: [] };
const tools = callableTools(registry, facts);
const namesOf = (chosen: readonly { name: string }[]) => chosen.map(({ name }) => name);
const unused = { called: [], found: [], said: '' };

describe('tools that are few', () => {
  test('need no tool that finds others', () => {
    const few = createToolRegistry(many.slice(0, 5));
    expect(namesOf(callableTools(few, facts))).toEqual(namesOf(many.slice(0, 5)));
  });
});

describe('tools that are many', () => {
  test('are shown as far as they fit, those first that fit what is said', () => {
    const chosen = chooseTools(tools, 600, { ...unused, said: 'When does the ferry leave? I lost my ticket.' }, counts);
    const names = namesOf(chosen);
    expect(names).toEqual(expect.arrayContaining(['find_tools', 'ask_user', 'read_ferry', 'read_ticket']));
    expect(names).not.toContain('read_weather');
    const shown = chosen.map(({ name, description, parameters }) => ({ name, description, parameters }));
    expect(toolsTokens(shown, counts)).toBeLessThanOrEqual(600);
  });

  test('stay when they were used or found, whatever is said now', () => {
    const use = { called: ['read_hotel'], found: ['{"tools":[{"name":"list_trains"}]}'], said: 'do it again' };
    expect(namesOf(chooseTools(tools, 400, use, counts))).toEqual(
      expect.arrayContaining(['find_tools', 'ask_user', 'read_hotel', 'list_trains']),
    );
  });

  test('come in the same order, so that the same choice is the same text', () => {
    const a = namesOf(chooseTools(tools, 500, { ...unused, called: ['read_train', 'read_invoice'] }, counts));
    const b = namesOf(chooseTools(tools, 500, { ...unused, called: ['read_invoice', 'read_train'] }, counts));
    expect(a).toEqual(b);
  });

  test('are found by the words of their names, descriptions and parameters, in any language', () => {
    expect(namesOf(searchTools(tools, 'the next ferry'))[0]).toMatch(/ferry/);
    expect(namesOf(searchTools(tools, 'list the hotels'))[0]).toBe('list_hotels');
    expect(namesOf(searchTools(tools, '请翻译'))[0]).toBe('translate');
    expect(searchTools(tools, 'zzzz qqqq')).toEqual([]);
  });

  test('are found by the tool that finds them, in a form that is read back', () => {
    const finder = tools.find(({ name }) => name === 'find_tools') as ServerTool;
    const read = finder.read({ query: 'something about parcels' });
    if ('problem' in read) throw new Error(read.problem);
    const result = finder.run(read.value, {
      signal: new AbortController().signal,
      sessionId: '',
      turnId: '',
      toolCallId: '',
    });
    expect(foundNames(JSON.stringify(result))).toEqual(expect.arrayContaining(['read_parcel']));
    expect(foundNames('no JSON')).toEqual([]);
  });
});
