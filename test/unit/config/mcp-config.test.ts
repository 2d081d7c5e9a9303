import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../../src/config.js';
import { mcpSecrets } from '../../../src/mcp-config.js';

const folder = mkdtempSync(join(tmpdir(), 'mcp-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
function fileWith(content: unknown): string {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
const serversOf = (content: unknown) => loadConfig({ MCP_CONFIG: fileWith(content) }).mcpServers;
function problemsOf(content: unknown, env: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    loadConfig({ MCP_CONFIG: fileWith(content), ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('MCP_CONFIG', () => {
  it('names servers that are started, and servers that run already', () => {
    const servers = serversOf({
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'some-server'], env: { TOKEN: 'x' } },
        search: {
          type: 'http',
          url: 'https://mcp.example.com/mcp',
          headers: { Authorization: 'Bearer y' },
          timeoutMs: 500,
        },
        old: { command: 'old', disabled: true },
      },
      somethingOfAnotherProgram: true,
    });
    expect(servers).toEqual([
      {
        kind: 'child',
        name: 'files',
        command: 'npx',
        args: ['-y', 'some-server'],
        env: { TOKEN: 'x' },
        cwd: null,
        timeoutMs: 30_000,
      },
      {
        kind: 'http',
        name: 'search',
        url: 'https://mcp.example.com/mcp',
        headers: { Authorization: 'Bearer y' },
        timeoutMs: 500,
      },
    ]);
    expect(serversOf({ mcpServers: {} })).toEqual([]);
  });

  it('names a file that can be read and is JSON', () => {
    expect(() => loadConfig({ MCP_CONFIG: join(folder, 'nowhere.json') })).toThrow(/MCP_CONFIG .*cannot be read/);
    expect(problemsOf('{"mcpServers":')).toEqual([expect.stringMatching(/^MCP_CONFIG .*not valid JSON/)]);
    expect(problemsOf([])).toEqual([expect.stringMatching(/^MCP_CONFIG file must hold an object/)]);
    expect(problemsOf({ servers: {} })).toEqual([expect.stringMatching(/^MCP_CONFIG mcpServers must be/)]);
  });

  it('is told all its problems at once, with those of other settings, and without a value of the file', () => {
    const problems = problemsOf(
      {
        mcpServers: {
          nothing: {},
          both: { command: 'x', url: 'http://127.0.0.1/' },
          mixed: { url: 'http://127.0.0.1/', env: { A: 'hunter2' } },
          older: { type: 'sse', url: 'http://127.0.0.1/' },
          wrong: { type: 'stdio', url: 'http://127.0.0.1/' },
          scheme: { url: 'ws://hunter2' },
          password: { url: 'https://ada:hunter2@example.com/' },
          header: { url: 'http://127.0.0.1/', headers: { 'a b': 'c', d: 'hunter2\nE: f' } },
          args: { command: 'x', args: ['a', 7], env: { 'A=B': 'hunter2', C: 7 }, timeoutMs: 5 },
          typo: { command: 'x', comand: 'hunter2' },
          '': { command: 'x' },
        },
      },
      { PORT: 'x' },
    );
    const at = (name: string) => problems.filter((problem) => problem.startsWith(`MCP_CONFIG mcpServers.${name}`));
    expect(problems[0]).toMatch(/^PORT /);
    expect(at('nothing')).toEqual([expect.stringMatching(/needs a "command".* or the "url"/)]);
    expect(at('both')).toEqual([expect.stringMatching(/keep one/)]);
    expect(at('mixed.env')).toHaveLength(1);
    expect(at('older.type')).toEqual([expect.stringMatching(/"sse" is not supported/)]);
    expect(at('wrong.type')).toHaveLength(1);
    expect(at('scheme.url')).toHaveLength(1);
    expect(at('password.url')).toEqual([expect.stringMatching(/headers/)]);
    expect(at('header.headers')).toHaveLength(2);
    for (const path of ['args.args.1', 'args.env.A=B', 'args.env.C', 'args.timeoutMs'])
      expect(at(path)).toHaveLength(1);
    expect(at('typo')).toEqual([expect.stringMatching(/comand/)]);
    expect(problems).toHaveLength(16);
    expect(problems.join('\n')).not.toContain('hunter2');
  });

  it('gives the log what it must never write', () => {
    const servers = serversOf({
      mcpServers: {
        a: { command: 'x', env: { TOKEN: 'first-secret', DEBUG: '1' } },
        b: { url: 'http://127.0.0.1/', headers: { Authorization: 'Bearer second-secret' } },
      },
    });
    expect(mcpSecrets(servers)).toEqual(['first-secret', 'Bearer second-secret', 'second-secret']);
  });
});
