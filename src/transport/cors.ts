import type { IncomingMessage, ServerResponse } from 'node:http';
import { preflightHeaders } from './request-checks.js';

const granted = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': ['content-type', 'authorization', 'x-request-id', ...preflightHeaders].join(', '),
  'access-control-max-age': '600',
} as const;

/**
 * Lets the pages of an allowed origin read answers. Credentials are not granted: who asks is told by a token, and no
 * cookie means anything here. Call it for allowed origins only.
 */
export function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('vary', 'Origin');
  const { origin } = request.headers;
  if (origin !== undefined) {
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'x-request-id');
  }
}

/** Answers a browser's question whether it may send a request. */
export function answerPreflight(response: ServerResponse): void {
  response.statusCode = 204;
  for (const [name, value] of Object.entries(granted)) {
    response.setHeader(name, value);
  }
  response.end();
}
