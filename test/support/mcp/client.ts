import { type Mcp, startMcp } from '../../../src/agent/mcp/mcp.js';
import type { ServerTool, ToolContext } from '../../../src/agent/tools/tool.js';
import { ToolFailure } from '../../../src/agent/tools/tool-failure.js';
import type { McpServerConfig } from '../../../src/mcp-config.js';
import { recordingLog } from '../log.js';

export interface TestMcp {
  readonly mcp: Mcp;
  readonly logLines: readonly string[];
  waitForLog(text: string): Promise<void>;
  forgetLog(): void;
  tool(name: string): ServerTool;
  names(): readonly string[];
  /** What a call gives, or the code and words with which it fails. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<unknown>;
}

const context = (signal: AbortSignal): ToolContext => ({ signal, sessionId: 's', turnId: 't', toolCallId: 'c' });

/** A connection to an MCP server, without a chat around it. It was tried once, or for `triedMs`. */
export async function startTestMcp(server: McpServerConfig, triedMs = 15_000): Promise<TestMcp> {
  const { log, lines, waitFor, forget } = recordingLog();
  const mcp = startMcp([server], { log, random: () => 0, reserved: new Set() });
  await mcp.tried(triedMs);
  const tool = (name: string) => {
    const found = mcp.tools().find((one) => one.name === name);
    if (found?.kind !== 'server') throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    mcp,
    logLines: lines,
    waitForLog: waitFor,
    forgetLog: forget,
    tool,
    names: () => mcp.tools().map(({ name }) => name),
    async call(name, args, signal = new AbortController().signal) {
      try {
        return await tool(name).run(args, context(signal));
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error;
        const { code, category, message } = error;
        return { code, category, message };
      }
    },
  };
}
