import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { startTestMcp, type TestMcp } from '../../support/mcp/client.js';
import { type McpControl, openMcpControl, type ServerEvent } from '../../support/mcp/control.js';
import { httpServer, startHttpServer } from '../../support/mcp/servers.js';

let control: McpControl;
let port: number;
beforeAll(async () => {
  control = await openMcpControl();
  port = await freePort();
});
afterAll(() => control.close());

const calls = (name: string, key: string) => (event: ServerEvent) =>
  event.event === 'call' && event.name === name && event.args?.key === key;
const callCount = () => control.events.filter(({ event }) => event === 'call').length;

describe.each([
  ['as a stream', {}],
  ['at once, and has no news', { JSON_ANSWERS: '1', NO_NEWS: '1' }],
])('an MCP server over HTTP that answers %s', (_how, env) => {
  let server: { kill(): Promise<void> };
  let test: TestMcp;
  beforeAll(async () => {
    control.forget();
    server = await startHttpServer(control, port, env);
    test = await startTestMcp(httpServer(port));
  });
  afterAll(async () => {
    await test.mcp.stop();
    await server.kill();
  });

  it('answers calls that are under way at the same time, each with its own answer', async () => {
    expect(test.names()).toContain('web_look');
    expect(await test.call('web_look', { key: 'a' })).toBe('look: a\nand so on');
    const answers = Promise.all(['a', 'b', 'c'].map((key) => test.call('web_wait', { key })));
    for (const key of ['a', 'b', 'c']) await control.event(calls('wait', key));
    for (const key of ['c', 'a', 'b']) control.tell({ do: 'release', key });
    expect(await answers).toEqual(['wait: a', 'wait: b', 'wait: c']);
    expect(await test.call('web_fail', {})).toMatchObject({ code: 'TOOL_ERROR', message: 'There is no such city.' });
  });

  it('hears that a call is not wanted any more', async () => {
    const abort = new AbortController();
    const answer = test.call('web_wait', { key: 'd' }, abort.signal).catch(() => 'aborted');
    await control.event(calls('wait', 'd'));
    abort.abort();
    expect(await answer).toBe('aborted');
    await control.event(({ event }) => event === 'cancelled');
  });

  it('may be killed and started again in mid-call: nothing is sent twice, and the next call finds it', async () => {
    const read = test.call('web_wait', { key: 'e' });
    const write = test.call('web_change', { key: 'f' });
    await control.event(calls('wait', 'e'));
    await control.event(calls('change', 'f'));
    control.forget();
    await server.kill();
    expect(await read).toMatchObject({ code: 'CONNECTION_LOST', category: 'transport' });
    expect(await write).toMatchObject({ code: 'OUTCOME_UNKNOWN', message: expect.stringContaining('outcome unknown') });
    server = await startHttpServer(control, port, env);
    expect(await test.call('web_look', { key: 'g' })).toContain('look: g');
    expect(callCount()).toBe(1);
  });
});

describe('an MCP server over HTTP', () => {
  beforeEach(() => control.forget());

  it('that was started again between two calls is found: a read says that it was not run, a write is run', async () => {
    let server = await startHttpServer(control, port, { NO_NEWS: '1' });
    const test = await startTestMcp(httpServer(port));
    await server.kill();
    server = await startHttpServer(control, port, { NO_NEWS: '1' });
    control.forget();
    expect(await test.call('web_look', { key: 'h' })).toMatchObject({ code: 'UNREACHABLE', category: 'transport' });
    expect(callCount()).toBe(0);
    expect(await test.call('web_look', { key: 'h' })).toContain('look: h');
    // A write is worth a question first, since it is never sent twice.
    await server.kill();
    server = await startHttpServer(control, port, { NO_NEWS: '1' });
    const write = test.call('web_change', { key: 'i' });
    await control.event(calls('change', 'i'));
    control.tell({ do: 'release', key: 'i' });
    expect(await write).toBe('change: i');
    await test.mcp.stop();
    await server.kill();
  });

  it('has its tools read again when it says that they have changed', async () => {
    const server = await startHttpServer(control, port);
    const test = await startTestMcp(httpServer(port));
    const offer = () => control.tell({ do: 'offer', tools: [{ name: 'fresh', inputSchema: { type: 'object' } }] });
    await expect
      .poll(
        () => {
          // The stream for such news is opened after the connection, so the first of them may be early.
          offer();
          return test.names();
        },
        { timeout: 10_000 },
      )
      .toEqual(['web_fresh']);
    await test.mcp.stop();
    await server.kill();
  });

  it('whose answer breaks off does not let a call wait for the rest of its time', async () => {
    const server = await startHttpServer(control, port);
    const test = await startTestMcp(httpServer(port, { timeoutMs: 60_000 }));
    const answer = test.call('web_change', { key: 'k' });
    await control.event(calls('change', 'k'));
    control.tell({ do: 'breakOff' });
    expect(await answer).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await test.call('web_look', { key: 'l' })).toContain('look: l');
    await test.mcp.stop();
    await server.kill();
  });

  it('that is away at the start is found when it comes', async () => {
    const test = await startTestMcp(httpServer(port));
    expect(test.names()).toEqual([]);
    expect(test.logLines.join('\n')).toContain('"reason":"ECONNREFUSED"');
    const server = await startHttpServer(control, port);
    await test.waitForLog('MCP server connected');
    expect(test.names()).toContain('web_look');
    await test.mcp.stop();
    await server.kill();
  });

  it('gets the headers of its entry, which nobody else gets to see', async () => {
    const server = await startHttpServer(control, port, { KEY: 'hunter2-hunter2' });
    const refused = await startTestMcp(httpServer(port));
    expect(refused.names()).toEqual([]);
    expect(refused.logLines.join('\n')).toContain('"reason":"HTTP 401"');
    const test = await startTestMcp(httpServer(port, { headers: { Authorization: 'Bearer hunter2-hunter2' } }));
    expect(await test.call('web_look', { key: 'm' })).toContain('look: m');
    expect(test.logLines.join('\n')).not.toContain('hunter2');
    await refused.mcp.stop();
    await test.mcp.stop();
    await server.kill();
  });

  it('that takes requests and never answers holds up nobody', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
    const arrived = new Promise((resolve) => silent.once('request', resolve));
    const test = await startTestMcp(httpServer(port), 10);
    await arrived;
    const begun = performance.now();
    await test.mcp.stop();
    expect(performance.now() - begun).toBeLessThan(2_000);
    await new Promise((resolve) => silent.close(resolve));
  });

  it('cannot send us elsewhere', async () => {
    const visits: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      visits.push(request.url);
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/secret`;
    const redirecting = createServer((_, response) => response.writeHead(307, { location }).end());
    await new Promise<void>((resolve) => redirecting.listen(port, '127.0.0.1', resolve));
    const test = await startTestMcp(httpServer(port));
    expect(test.names()).toEqual([]);
    expect(test.logLines.join('\n')).toContain('"reason":"HTTP 307"');
    expect(visits).toEqual([]);
    await test.mcp.stop();
    redirecting.close();
    elsewhere.close();
  });
});
