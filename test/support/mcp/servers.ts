import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildMcpServer, HttpMcpServer } from '../../../src/mcp-config.js';
import type { McpControl } from './control.js';

/** The entry of a little MCP server over stdio. */
export function stdioServer(
  control: McpControl,
  { name = 'little', timeoutMs = 10_000, env = {}, ...more }: Partial<ChildMcpServer> = {},
): ChildMcpServer {
  return {
    kind: 'child',
    name,
    timeoutMs,
    command: process.execPath,
    args: [control.programs.stdio],
    cwd: null,
    ...more,
    env: { ...control.env, ...env },
  };
}

/** The entry of an MCP server at a port of loopback. */
export const httpServer = (port: number, more: Partial<HttpMcpServer> = {}): HttpMcpServer => ({
  kind: 'http',
  name: 'web',
  timeoutMs: 10_000,
  url: `http://127.0.0.1:${port}/mcp`,
  headers: {},
  ...more,
});

/** A little MCP server over HTTP, started; resolves when it listens. */
export async function startHttpServer(
  control: McpControl,
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<{ kill(): Promise<void> }> {
  const child = spawn(process.execPath, [control.programs.http], {
    env: { ...process.env, ...control.env, PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  await control.event(({ event, pid }) => event === 'listening' && pid === child.pid);
  return {
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A file for MCP_CONFIG. */
export async function writeMcpConfig(
  servers: Readonly<Record<string, unknown>>,
): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-'));
  const path = join(folder, 'mcp.json');
  await writeFile(path, JSON.stringify({ mcpServers: servers }));
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
