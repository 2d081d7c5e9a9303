import type { Logger } from 'pino';
import type { McpServerConfig } from '../../mcp-config.js';
import type { ToolSource } from '../tools/registry.js';
import { McpServer } from './mcp-server.js';
import { signalGroup } from './process-group.js';
import { toolName } from './tool-name.js';

/** The MCP servers of this process. */
export interface Mcp extends ToolSource {
  /** Resolves when each of them is connected or has failed once, or when the time is up. */
  tried(ms: number): Promise<void>;
  /** Closes all connections; children have ended when it resolves. */
  stop(): Promise<void>;
}

export interface McpDependencies {
  readonly log: Logger;
  /** From 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Names that other tools have. */
  readonly reserved: ReadonlySet<string>;
}

/** Connects to the configured servers in the background. One that is away is tried until `stop`. */
export function startMcp(configs: readonly McpServerConfig[], { log, random, reserved }: McpDependencies): Mcp {
  const children = new Set<number>();
  const names = configs.map(({ name }) => name);
  const servers = configs.map(
    (config) =>
      new McpServer(config, {
        log,
        random,
        children,
        nameOf: (tool) => toolName(config.name, tool, names, (name) => reserved.has(name)),
      }),
  );
  // For an end that waits for nobody. It is the last chance for a child that does not mind its input ending.
  const killChildren = () => {
    for (const pid of children) signalGroup(pid, 'SIGKILL');
  };
  process.on('exit', killChildren);
  for (const server of servers) server.start();
  return {
    tools: () => servers.flatMap(({ tools }) => tools),
    async tried(ms) {
      let timer: NodeJS.Timeout | undefined;
      const timeUp = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([Promise.all(servers.map((server) => server.tried())), timeUp]);
      clearTimeout(timer);
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      process.off('exit', killChildren);
    },
  };
}
