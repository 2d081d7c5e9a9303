import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type McpControl, openMcpControl } from '../support/mcp/control.js';
import { stdioServer, writeMcpConfig } from '../support/mcp/servers.js';
import { isAlive } from '../support/process-state.js';
import { runServer, startServer } from '../support/server-process.js';

let control: McpControl;
let database: TestDatabase;
beforeAll(async () => {
  control = await openMcpControl();
  database = await createTestDatabase();
});
afterAll(async () => {
  await control.close();
  await database.drop();
});

/** A server with an MCP server that ends by SIGKILL only. */
async function start() {
  control.forget();
  const { command, args, env } = stdioServer(control, { env: { STUBBORN: '1' } });
  const config = await writeMcpConfig({ little: { command, args, env: { ...env, KEY: 'hunter2-hunter2' } } });
  const server = await startServer({ DATABASE_URL: database.url, MCP_CONFIG: config.path, SHUTDOWN_GRACE_MS: '0' });
  const { pid } = await control.event(({ event }) => event === 'started');
  await config.remove();
  return { server, pid };
}

describe('a server with an MCP server as its child', () => {
  it('ends it in an orderly end', async () => {
    const { server, pid } = await start();
    expect(await server.end('SIGTERM')).toBe(0);
    expect(await isAlive(pid)).toBe(false);
    expect(server.output.join('\n')).not.toContain('hunter2');
  });

  it('ends it also when it is told to end at once', async () => {
    const { server, pid } = await start();
    const ended = server.end('SIGINT');
    await expect
      .poll(() => server.output.join('\n'), { timeout: 10_000 })
      .toContain('a second signal ends the server at once');
    process.kill(server.pid, 'SIGTERM');
    // By the signal; 0 when this process was so slow that the orderly end came first.
    expect([null, 0]).toContain(await ended);
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});

it('a file of MCP servers that is not valid stops the start, and says why', async () => {
  const config = await writeMcpConfig({ little: { comand: 'hunter2-hunter2' } });
  const { code, output } = await runServer({ DATABASE_URL: database.url, MCP_CONFIG: config.path });
  await config.remove();
  expect(code).toBe(1);
  expect(output).toMatch(/MCP_CONFIG mcpServers\.little .*comand/);
  expect(output).not.toContain('hunter2');
});
