import { createRequire } from 'node:module';

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

/** How this server introduces itself to MCP servers. */
export const clientInfo = { name: 'chatsession', version };
