import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from 'pino';
import type { McpServerConfig } from '../../mcp-config.js';
import { reasonOf } from './call-failure.js';
import { type CallResult, callResult } from './call-result.js';
import { ChildTransport } from './child-transport.js';
import { clientInfo } from './client-info.js';
import { HttpTransport } from './http-transport.js';
import { logStderr } from './log-stderr.js';
import { oneAtATime } from './one-at-a-time.js';
import { readTools } from './read-tools.js';

/** For the first answer. A launcher may have to fetch the server first. */
const connectingMs = 60_000;
/** A server that is asked whether it lives and is silent for so long counts as gone. */
const pingMs = 5_000;

/** A connection that holds: the server has introduced itself and has told its tools. */
export interface Connection {
  /** @throws what the SDK throws; nothing is sent twice. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallResult>;
  /** False once it is lost or being closed: a call would not be sent. */
  isOpen(): boolean;
  /** Asks the server whether it lives, and closes the connection when it does not. */
  check(): Promise<void>;
  /** Resolves when it is lost, or was closed to the end. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionDependencies {
  readonly log: Logger;
  /** The ids of children for as long as they live. */
  readonly children: Set<number>;
}

function createTransport(config: McpServerConfig, { log, children }: ConnectionDependencies): Transport {
  return config.kind === 'http'
    ? new HttpTransport(config)
    : new ChildTransport(config, children, (stderr) => logStderr(stderr, log, config.name));
}

/**
 * Connects to an MCP server, and tells its tools, as they are listed, at first and whenever they change.
 *
 * @throws when the server is not there, does not speak the protocol, or the signal aborts; nothing of it is left then.
 */
export async function openConnection(
  config: McpServerConfig,
  deps: ConnectionDependencies,
  onTools: (tools: readonly unknown[]) => Promise<void>,
  signal: AbortSignal,
): Promise<Connection> {
  const { log } = deps;
  const mcpServer = config.name;
  const transport = createTransport(config, deps);
  const client = new Client(clientInfo);
  let isOpen = true;
  const closed = new Promise<void>((resolve) => {
    client.onclose = () => {
      isOpen = false;
      resolve();
    };
  });
  client.onerror = (error) => log.debug({ mcpServer, reason: reasonOf(error) }, 'a message of an MCP server was lost');
  const close = () => {
    isOpen = false;
    return transport.close();
  };
  const tellTools = oneAtATime(async () => onTools(await readTools(client)));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () =>
    tellTools().catch((error: unknown) => {
      if (isOpen) log.warn({ mcpServer, reason: reasonOf(error) }, 'the tools of an MCP server could not be read');
    }),
  );
  const check = oneAtATime(async () => {
    if (!isOpen) return;
    try {
      await client.ping({ timeout: pingMs });
    } catch (error) {
      if (isOpen) log.warn({ mcpServer, reason: reasonOf(error) }, 'an MCP server does not answer any more');
      await close();
    }
  });

  const onAbort = () => void close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: connectingMs });
    await tellTools();
    signal.throwIfAborted();
  } catch (error) {
    await close();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  return {
    call: (name, args, callSignal) =>
      client.request({ method: 'tools/call', params: { name, arguments: { ...args } } }, callResult, {
        signal: callSignal,
        // The signal is what ends it; this is for a timer that the SDK has in any case.
        timeout: config.timeoutMs * 2,
      }),
    isOpen: () => isOpen,
    check,
    closed,
    close,
  };
}
