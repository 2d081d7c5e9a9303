// A little MCP server over streamable HTTP, in a process of its own. MCP_CONTROL is the port of its test, PORT its own,
// KEY what it wants as bearer token. JSON_ANSWERS makes it answer without a stream, NO_NEWS refuses the stream for what
// belongs to no request.

import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createBehaviour } from './behaviour.js';

const { PORT, KEY, JSON_ANSWERS, NO_NEWS } = process.env;
const { tell, onCommand, createServer } = createBehaviour();
const sessions = new Map<string, StreamableHTTPServerTransport>();
const posts = new Set<http.ServerResponse>();
onCommand((command) => {
  if (command.do === 'breakOff') for (const response of posts) response.end();
});

async function handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  if (KEY !== undefined && request.headers.authorization !== `Bearer ${KEY}`) {
    response.writeHead(401).end();
    return;
  }
  if (request.method === 'GET' && NO_NEWS !== undefined) {
    response.writeHead(405).end();
    return;
  }
  if (request.method === 'POST') {
    posts.add(response);
    response.once('close', () => posts.delete(response));
  }
  const id = request.headers['mcp-session-id'];
  let transport = typeof id === 'string' ? sessions.get(id) : undefined;
  if (!transport && id !== undefined) {
    response.writeHead(404).end('no such session');
    return;
  }
  if (!transport) {
    const fresh = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: JSON_ANSWERS !== undefined,
      onsessioninitialized: (name) => {
        sessions.set(name, fresh);
      },
    });
    transport = fresh;
    await createServer().connect(fresh as Parameters<ReturnType<typeof createServer>['connect']>[0]);
  }
  await transport.handleRequest(request, response);
}

const server = http.createServer((request, response) => void handle(request, response));
server.listen(Number(PORT), '127.0.0.1', () => tell({ event: 'listening' }));
