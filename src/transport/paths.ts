import type { IncomingMessage } from 'node:http';

/** HTTP, server-sent events, WebSocket and GraphiQL: all at one path. */
export const endpoint = '/graphql';

export const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] ?? '/';
