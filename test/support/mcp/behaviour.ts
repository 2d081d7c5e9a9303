import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ServerCommand, ServerEvent } from './control.js';

const key = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] } as const;
const anything = { type: 'object' } as const;
const reads = { readOnlyHint: true } as const;

/** The tools of a little MCP server, until its test has it offer others. */
const firstTools: readonly unknown[] = [
  { name: 'look', description: 'Looks a key up.', inputSchema: key, annotations: reads },
  { name: 'wait', description: 'Looks when it is let.', inputSchema: key, annotations: reads },
  { name: 'change', description: 'Changes a key.', inputSchema: key },
  { name: 'fail', description: 'Fails.', inputSchema: anything, annotations: reads },
  { name: 'refuse', description: 'Refuses.', inputSchema: anything, annotations: reads },
  { name: 'draw', description: 'Draws.', inputSchema: anything, annotations: reads },
  { name: 'count', description: 'Counts.', inputSchema: anything, annotations: reads },
];

const picture = { type: 'image', mimeType: 'image/png', data: Buffer.alloc(3_000).toString('base64') } as const;

/** What all connections of one process share. */
export interface Behaviour {
  tell(event: Omit<ServerEvent, 'pid'>): void;
  onCommand(hear: (command: ServerCommand) => void): void;
  createServer(): Server;
}

/** The part of a little MCP server that is the same over stdio and HTTP. */
export function createBehaviour(): Behaviour {
  const socket = connect(Number(process.env.MCP_CONTROL), '127.0.0.1');
  // Its test has ended: nobody needs it any more.
  socket.on('error', () => process.exit(0));
  socket.on('close', () => process.exit(0));
  if (process.env.STUBBORN === undefined) socket.unref();
  const listeners = new Set<(command: ServerCommand) => void>();
  const servers = new Set<Server>();
  const held = new Map<string, (() => void)[]>();
  let tools: readonly unknown[] = firstTools;

  const tell: Behaviour['tell'] = (event) => {
    socket.write(`${JSON.stringify({ pid: process.pid, ...event })}\n`);
  };
  listeners.add((command) => {
    if (command.do === 'release') for (const open of held.get(command.key) ?? []) open();
    if (command.do !== 'offer') return;
    tools = command.tools;
    for (const server of servers) void server.sendToolListChanged();
  });
  createInterface({ input: socket }).on('line', (line) => {
    for (const hear of listeners) hear(JSON.parse(line) as ServerCommand);
  });

  const isLet = (name: string) => new Promise<void>((resolve) => held.set(name, [...(held.get(name) ?? []), resolve]));

  function createServer(): Server {
    const server = new Server({ name: 'little', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    servers.add(server);
    server.onclose = () => servers.delete(server);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools as Tool[] }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, { signal }) => {
      tell({ event: 'call', name, args });
      signal.addEventListener('abort', () => tell({ event: 'cancelled', name, args }));
      switch (name) {
        case 'wait':
        case 'change':
          await isLet(String(args.key));
          return { content: [{ type: 'text', text: `${name}: ${args.key}` }] };
        case 'fail':
          return { isError: true, content: [{ type: 'text', text: 'There is no such city.' }] };
        case 'refuse':
          throw Object.assign(new Error('Not in this way.'), { code: Number(args.code) });
        case 'draw':
          return { content: [picture, { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' }] };
        case 'count':
          return { content: [], structuredContent: { count: 3 } };
        default:
          return {
            content: [
              { type: 'text', text: `${name}: ${args.key}` },
              { type: 'text', text: 'and so on' },
            ],
          };
      }
    });
    return server;
  }
  return { tell, onCommand: (hear) => listeners.add(hear), createServer };
}
