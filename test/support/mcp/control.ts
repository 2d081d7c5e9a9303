import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { findOrBundle } from '../bundle.js';

/** What a little MCP server tells its test. */
export interface ServerEvent {
  readonly event: 'started' | 'listening' | 'call' | 'cancelled' | 'input';
  readonly pid: number;
  readonly name?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Names of the variables in its environment, with `started`. */
  readonly env?: readonly string[];
}

/** What a test tells a little MCP server. */
export type ServerCommand =
  /** Lets the calls that wait with this key end. */
  | { readonly do: 'release'; readonly key: string }
  /** Offers these tools from now on. */
  | { readonly do: 'offer'; readonly tools: readonly unknown[] }
  /** Ends every stream of answers, without an answer (HTTP only). */
  | { readonly do: 'breakOff' };

/** The test's end of a channel to little MCP servers, whoever has started them. */
export interface McpControl {
  /** The paths of little MCP servers. */
  readonly programs: { readonly stdio: string; readonly http: string };
  /** For the environment of a server. */
  readonly env: Readonly<Record<string, string>>;
  readonly events: readonly ServerEvent[];
  /** The first event that fits, now or later. */
  event(fits: (event: ServerEvent) => boolean): Promise<ServerEvent>;
  /** Waits from here on for what is still to come. */
  forget(): void;
  /** To all servers that live. */
  tell(command: ServerCommand): void;
  close(): Promise<void>;
}

const program = (name: string) =>
  findOrBundle(`test/support/mcp/${name}.ts`, ['test/support/mcp', 'package-lock.json']);

export async function openMcpControl(): Promise<McpControl> {
  const [stdio, http] = await Promise.all([program('stdio-main'), program('http-main')]);
  const events: ServerEvent[] = [];
  const waiting = new Set<() => void>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    createInterface({ input: socket }).on('line', (line) => {
      events.push(JSON.parse(line) as ServerEvent);
      for (const check of waiting) check();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    programs: { stdio, http },
    env: { MCP_CONTROL: String((server.address() as AddressInfo).port) },
    events,
    event: (fits) =>
      new Promise((resolve) => {
        const check = () => {
          const found = events.find(fits);
          if (!found) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
    forget() {
      events.length = 0;
    },
    tell(command) {
      for (const socket of sockets) socket.write(`${JSON.stringify(command)}\n`);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
