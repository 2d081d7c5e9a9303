import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestMcp, type TestMcp } from '../../support/mcp/client.js';
import { type McpControl, openMcpControl, type ServerEvent } from '../../support/mcp/control.js';
import { stdioServer } from '../../support/mcp/servers.js';
import { isAlive } from '../../support/process-state.js';

let control: McpControl;
beforeAll(async () => {
  control = await openMcpControl();
});
afterAll(() => control.close());

const calls = (name: string, key: string) => (event: ServerEvent) =>
  event.event === 'call' && event.name === name && event.args?.key === key;
const started = () => control.event(({ event }) => event === 'started');

describe('an MCP server over stdio', () => {
  let test: TestMcp;
  beforeAll(async () => {
    process.env.SECRET_OF_OURS = 'hunter2';
    test = await startTestMcp(stdioServer(control));
  });
  afterAll(async () => {
    await test.mcp.stop();
    delete process.env.SECRET_OF_OURS;
  });

  it('adds its tools, by what it says of them', () => {
    expect(test.names()).toEqual([
      'little_look',
      'little_wait',
      'little_change',
      'little_fail',
      'little_refuse',
      'little_draw',
      'little_count',
    ]);
    expect(test.tool('little_look')).toMatchObject({
      origin: 'mcp',
      description: 'Looks a key up.',
      parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      sideEffect: 'read',
      requiresApproval: false,
      retries: 1,
    });
    expect(test.tool('little_change')).toMatchObject({ sideEffect: 'write', requiresApproval: true, retries: 0 });
    expect(test.tool('little_look').read({ key: 7 })).toEqual({ problem: expect.stringContaining('key') });
  });

  it('answers calls with text, notes for what is none, and structured content', async () => {
    expect(await test.call('little_look', { key: 'a' })).toBe('look: a\nand so on');
    expect(await test.call('little_draw', {})).toBe('[image, image/png, 3 KiB]\n[link, a.txt, file:///a.txt]');
    expect(await test.call('little_count', {})).toBe('{"count":3}');
  });

  it('answers calls that are under way at the same time, each with its own answer', async () => {
    const answers = Promise.all(['a', 'b', 'c'].map((key) => test.call('little_wait', { key })));
    for (const key of ['a', 'b', 'c']) await control.event(calls('wait', key));
    for (const key of ['c', 'a', 'b']) control.tell({ do: 'release', key });
    expect(await answers).toEqual(['wait: a', 'wait: b', 'wait: c']);
  });

  it('fails in its own words, with the kind of failure', async () => {
    expect(await test.call('little_fail', {})).toEqual({
      code: 'TOOL_ERROR',
      category: 'logic',
      message: 'There is no such city.',
    });
    const kind = async (code: number) => (await test.call('little_refuse', { code })) as { category: string };
    for (const code of [-32_700, -32_600, -32_601, -32_602]) expect((await kind(code)).category).toBe('validation');
    for (const code of [-32_603, -32_000, -32_050, -32_099]) expect((await kind(code)).category).toBe('transport');
    for (const code of [-32_100, -1, 7]) expect((await kind(code)).category).toBe('logic');
    expect(await kind(7)).toMatchObject({ message: expect.stringContaining('Not in this way.') });
  });

  it('hears that a call is not wanted any more', async () => {
    const abort = new AbortController();
    const answer = test.call('little_wait', { key: 'd' }, abort.signal).catch(() => 'aborted');
    await control.event(calls('wait', 'd'));
    abort.abort();
    expect(await answer).toBe('aborted');
    await control.event(({ event }) => event === 'cancelled');
  });

  it('gets the usual variables and those of its entry, and none of ours', async () => {
    const { env = [] } = await started();
    expect(env).toContain('MCP_CONTROL');
    expect(env).toContain('PATH');
    for (const name of ['VITEST', 'NODE_ENV', 'SECRET_OF_OURS']) {
      expect(process.env).toHaveProperty(name);
      expect(env).not.toContain(name);
    }
  });
});

describe('the tools of an MCP server', () => {
  let test: TestMcp;
  beforeAll(async () => {
    test = await startTestMcp(stdioServer(control));
  });
  afterAll(() => test.mcp.stop());

  it('are read again when it says that they have changed', async () => {
    const tool = { description: 'New.', inputSchema: { type: 'object' } };
    control.tell({ do: 'offer', tools: [{ ...tool, name: 'fresh' }] });
    await expect.poll(() => test.names(), { timeout: 10_000 }).toEqual(['little_fresh']);
  });

  it('are those that are fit to be used, under names that providers take', async () => {
    const tool = { inputSchema: { type: 'object' } };
    control.tell({
      do: 'offer',
      tools: [
        { ...tool, name: 'files/read all' },
        { ...tool, name: 'x'.repeat(100) },
        { ...tool, name: 'wordy', description: 'é'.repeat(5_000) },
        { name: 'odd', inputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } },
        { name: 'elsewhere', inputSchema: { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/x' } } } },
        { name: 'text', inputSchema: { type: 'string' } },
        { name: 'nothing' },
        'no tool',
        { name: 'tuple', inputSchema: { type: 'object', properties: { a: { items: [{ type: 'string' }] } } } },
        { name: 'either', inputSchema: { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] } },
      ],
    });
    await expect.poll(() => test.names(), { timeout: 10_000 }).toHaveLength(5);
    const names = test.names();
    for (const name of names) expect(name).toMatch(/^little_[A-Za-z0-9_-]{1,57}$/);
    expect(names[0]).toMatch(/^little_files_read_all_[0-9a-f]{6}$/);
    expect(names[1]).toMatch(/^little_x{50}_[0-9a-f]{6}$/);
    expect(names.slice(2)).toEqual(['little_wordy', 'little_tuple', 'little_either']);
    expect(test.tool('little_wordy').description).toHaveLength(1_024);
    expect(await test.call(names[0] ?? '', { key: 'a' })).toContain('files/read all: a');
    // Providers refuse alternatives at the top, and every tool of the request with them. They hold all the same.
    expect(test.tool('little_either').parameters).toEqual({ type: 'object', properties: {} });
    expect(test.tool('little_either').read({ c: 1 })).toHaveProperty('problem');
    const leftOut = test.logLines.filter((line) => line.includes('is left out'));
    expect(leftOut).toHaveLength(5);
  });
});

describe('an MCP server that dies', () => {
  it('is started again when it dies; a call that was under way has an unknown outcome and is not sent again', async () => {
    control.forget();
    const test = await startTestMcp(stdioServer(control));
    const { pid } = await started();
    const read = test.call('little_wait', { key: 'e' });
    const write = test.call('little_change', { key: 'f' });
    await control.event(calls('wait', 'e'));
    await control.event(calls('change', 'f'));
    control.forget();
    process.kill(pid, 'SIGKILL');
    expect(await read).toMatchObject({ code: 'CONNECTION_LOST', category: 'transport' });
    expect(await write).toMatchObject({ code: 'OUTCOME_UNKNOWN', message: expect.stringContaining('outcome unknown') });
    // The next call waits for the new one.
    expect(await test.call('little_look', { key: 'g' })).toContain('look: g');
    expect((await started()).pid).not.toBe(pid);
    expect(control.events.filter(({ event }) => event === 'call')).toHaveLength(1);
    await test.mcp.stop();
  });
});

describe('a bad MCP server', () => {
  let test: TestMcp;
  beforeEach(() => control.forget());
  afterEach(() => test.mcp.stop());

  it('may write what is no message: what is one counts, and stderr goes to the log of level debug', async () => {
    const env = { NOISE: '1' };
    test = await startTestMcp(stdioServer(control, { env }));
    expect(await test.call('little_look', { key: 'a' })).toContain('look: a');
    expect(test.logLines.join('\n')).not.toContain('Welcome');
    const said = test.logLines.find((line) => line.includes('starting with'));
    expect(JSON.parse(said ?? '{}')).toMatchObject({ level: 20, mcpServer: 'little' });
  });

  it('that does not answer a call costs no more than the time of the call, and lives on when it answers otherwise', async () => {
    test = await startTestMcp(stdioServer(control, { timeoutMs: 300 }));
    expect(await test.call('little_wait', { key: 'z' })).toMatchObject({ code: 'TIMEOUT', category: 'timeout' });
    expect(await test.call('little_change', { key: 'z' })).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining('outcome unknown'),
    });
    expect(await test.call('little_look', { key: 'a' })).toContain('look: a');
    expect(control.events.filter(({ event }) => event === 'started')).toHaveLength(1);
  });

  it('that does not even introduce itself leaves no child behind', async () => {
    test = await startTestMcp(stdioServer(control, { env: { MUTE: '1' } }), 10);
    await control.event(({ event }) => event === 'input');
    const { pid } = await started();
    expect(await isAlive(pid)).toBe(true);
    expect(test.names()).toEqual([]);
    await test.mcp.stop();
    expect(await isAlive(pid)).toBe(false);
  });

  it('that cannot be started is tried again, and named in the log', async () => {
    test = await startTestMcp(
      stdioServer(control, { command: '/nowhere/mcp-server', env: { TOKEN: 'hunter2-hunter2' } }),
    );
    await test.waitForLog('MCP server cannot be reached');
    const line = test.logLines.find((one) => one.includes('cannot be reached'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 40, mcpServer: 'little', reason: 'ENOENT' });
    test.forgetLog();
    await test.waitForLog('MCP server cannot be reached');
    expect(test.logLines.join('\n')).not.toContain('hunter2');
  });
});

describe('the end of this server', () => {
  beforeEach(() => control.forget());

  it('ends a child whose input is closed', async () => {
    const { mcp } = await startTestMcp(stdioServer(control));
    const { pid } = await started();
    await mcp.stop();
    expect(await isAlive(pid)).toBe(false);
  });

  it('ends a child that minds neither that nor SIGTERM', async () => {
    const { mcp } = await startTestMcp(stdioServer(control, { env: { STUBBORN: '1' } }));
    const { pid } = await started();
    const begun = performance.now();
    await mcp.stop();
    expect(await isAlive(pid)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(8_000);
  });

  it('ends what a launcher has started', async () => {
    const { command, args } = stdioServer(control);
    const line = [command, ...args].map((word) => `'${word}'`).join(' ');
    const { mcp } = await startTestMcp(
      stdioServer(control, { command: '/bin/sh', args: ['-c', `${line}; true`], env: { STUBBORN: '1' } }),
    );
    const { pid } = await started();
    await mcp.stop();
    expect(await isAlive(pid)).toBe(false);
  });

  it('leaves calls that are under way with a result', async () => {
    const test = await startTestMcp(stdioServer(control));
    const write = test.call('little_change', { key: 'h' });
    await control.event(calls('change', 'h'));
    await test.mcp.stop();
    expect(await write).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await test.call('little_look', { key: 'i' })).toMatchObject({ code: 'UNREACHABLE' });
  });
});
