import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type ChatClient, chatClient } from '../../support/client.js';
import { decideApproval } from '../../support/documents.js';
import { type McpControl, openMcpControl } from '../../support/mcp/control.js';
import { stdioServer, writeMcpConfig } from '../../support/mcp/servers.js';
import { isAlive } from '../../support/process-state.js';
import * as script from '../../support/script.js';

let control: McpControl;
beforeAll(async () => {
  control = await openMcpControl();
});
afterAll(() => control.close());

async function start(env: Readonly<Record<string, string>> = {}) {
  const { kind: _, name: __, cwd: ___, ...entry } = stdioServer(control, { env });
  const config = await writeMcpConfig({ files: entry });
  const app = await startTestApp({ MCP_CONFIG: config.path }).finally(() => config.remove());
  return { app, client: chatClient(app.url) };
}

const callCount = (name: string) => control.events.filter((one) => one.event === 'call' && one.name === name).length;

describe('a turn with tools of an MCP server', () => {
  let app: TestApp;
  let client: ChatClient;
  let sessionId: string;
  beforeAll(async () => {
    ({ app, client } = await start());
    await app.waitForLog('MCP server connected');
  });
  beforeEach(async () => {
    control.forget();
    sessionId = await client.createSession();
  });
  afterEach(() => expect(app.provider.violations).toEqual([]));
  afterAll(() => app.close());

  /** What the model was told of its one call. */
  async function toldOf(name: string, args: unknown, meanwhile: () => Promise<void> = async () => {}) {
    const first = app.provider.requests.length;
    app.provider.enqueue(script.callTools([{ id: 'c1', name, arguments: args }]), script.reply('I see.'));
    const sending = client.send(sessionId, 'go');
    await meanwhile();
    const { content, toolCallsMade } = await sending;
    expect({ content, toolCallsMade }).toEqual({ content: 'I see.', toolCallsMade: 1 });
    const { body } = await app.provider.request(first + 1);
    return { body, told: String(body.messages.at(-1)?.content) };
  }

  it('shows them to the model, runs the one it calls, and goes on with the answer', async () => {
    const { body, told } = await toldOf('files_look', { key: 'a' });
    expect(told).toBe('look: a\nand so on');
    expect(body.tools).toContainEqual({
      type: 'function',
      function: {
        name: 'files_look',
        description: 'Looks a key up.',
        parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      },
    });
  });

  it('tells the model of a failure in the words of the tool', async () => {
    expect((await toldOf('files_fail', {})).told).toMatch(/^There is no such city\./);
    expect((await toldOf('files_refuse', { code: -32_602 })).told).toContain('Not in this way.');
  });

  it('runs none with arguments that do not fit its schema', async () => {
    expect((await toldOf('files_look', { key: 7 })).told).toMatch(/^Not run, the arguments are not valid: key/);
    expect(callCount('look')).toBe(0);
  });

  it('tries a read once more when its server dies under it', async () => {
    const { told } = await toldOf('files_wait', { key: 'b' }, async () => {
      const { pid } = await control.event(({ event, name }) => event === 'call' && name === 'wait');
      control.forget();
      process.kill(pid, 'SIGKILL');
      await control.event(({ event, name }) => event === 'call' && name === 'wait');
      control.tell({ do: 'release', key: 'b' });
    });
    expect(told).toBe('wait: b');
  });

  it('runs one that may write once the user has allowed it, and not before', async () => {
    const first = app.provider.requests.length;
    app.provider.enqueue(
      script.callTools([{ id: 'c1', name: 'files_change', arguments: { key: 'c' } }]),
      script.reply('I see.'),
    );
    const { pendingInput } = await client.send(sessionId, 'go');
    expect(pendingInput).toMatchObject({
      __typename: 'ToolApproval',
      toolCall: { name: 'files_change', arguments: { key: 'c' }, status: 'PENDING' },
    });
    expect(callCount('change')).toBe(0);
    await client.run(decideApproval, { input: { requestId: pendingInput.id, approved: true } });
    await control.event(({ event, name }) => event === 'call' && name === 'change');
    control.tell({ do: 'release', key: 'c' });
    const { body } = await app.provider.request(first + 1);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringMatching(/^change: c/) });
    expect(callCount('change')).toBe(1);
  });

  it('tells the model of the real names when a tool has gone', async () => {
    control.tell({ do: 'offer', tools: [{ name: 'fresh', inputSchema: { type: 'object' } }] });
    const names = async () => {
      const { body } = await toldOf('current_time', {});
      return (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name);
    };
    while (!(await names()).includes('files_fresh')) {
      // It has been read by the next turn, or the one after.
    }
    const { told } = await toldOf('files_look', { key: 'a' });
    expect(told).toMatch(/^There is no tool files_look\. The tools are: .*files_fresh/);
  });
});

it('serves while an MCP server says nothing, and leaves no child behind', async () => {
  control.forget();
  const { app, client } = await start({ MUTE: '1', STUBBORN: '1' });
  const { pid } = await control.event(({ event }) => event === 'started');
  const { content } = await client.send(await client.createSession(), 'hello');
  expect(content).toBe('echo: hello');
  expect(await isAlive(pid)).toBe(true);
  await app.close();
  expect(await isAlive(pid)).toBe(false);
});
