import { describe, expect, it } from 'vitest';
import { toolName } from '../../../../src/agent/mcp/tool-name.js';

const legal = /^[A-Za-z0-9_-]{1,64}$/;
const name = (server: string, tool: string, servers = [server], reserved: readonly string[] = []) =>
  toolName(server, tool, servers, (one) => reserved.includes(one));

describe('the name of a tool of an MCP server', () => {
  it('is that of its server and its own where providers take that', () => {
    expect(name('files', 'read_file')).toBe('files_read_file');
    expect(name('brave-search', 'Web')).toBe('brave-search_Web');
  });

  it.each([
    ['a dot', 'srv', 'a.b'],
    ['a space in the server', 'my files', 'read'],
    ['other letters', 'srv', 'größe😀'],
    ['too many letters', 'srv', 'x'.repeat(200)],
    ['a long server', 's'.repeat(100), 'read'],
  ])('is made legal, and says by a mark which one it was: %s', (_case, server, tool) => {
    expect(name(server, tool)).toMatch(legal);
    expect(name(server, tool)).toMatch(/_[0-9a-f]{6}$/);
    expect(name(server, tool)).toBe(name(server, tool));
  });

  it('is never that of another one', () => {
    const servers = ['a', 'a_b', 'a b', 'a.b'];
    const all = servers.flatMap((server) =>
      ['c', 'b_c', 'b c', 'b.c', `${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`].map((tool) => name(server, tool, servers)),
    );
    expect(new Set(all).size).toBe(all.length);
    for (const one of all) expect(one).toMatch(legal);
  });

  it('is not that of one of our own tools', () => {
    expect(name('ask', 'user')).toBe('ask_user');
    expect(name('ask', 'user', ['ask'], ['ask_user'])).toMatch(/^ask_user_[0-9a-f]{6}$/);
  });
});
