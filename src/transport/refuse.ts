import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ChatError } from '../errors.js';
import { jsonTypeFor } from './accept.js';
import { statusOf } from './mask-error.js';

export const stopping = () => new ChatError('UNAVAILABLE', 'The server is stopping. Try again in a moment.');

const bodyOf = ({ code, message, category, retryable, details }: ChatError, requestId?: string): string => {
  const trace = category === 'user' || requestId === undefined ? {} : { requestId };
  return JSON.stringify({ errors: [{ message, extensions: { code, retryable, ...trace, ...details } }] });
};

/** Long enough for an answer to arrive before the connection goes. */
const lingerMs = 500;

/**
 * An answer may come before the body of the request has: the client may be in the middle of sending gigabytes. What
 * it still sends is thrown away for a moment, so that it gets to read the answer, and then the connection is dropped.
 */
export function dropUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  response.once('finish', () => {
    if (request.complete) {
      return;
    }
    const timer = setTimeout(() => {
      if (!request.complete) {
        socket.destroy();
      }
    }, lingerMs);
    timer.unref();
  });
}

/** Answers with an error in GraphQL's form, before GraphQL was asked. */
export function refuse(request: IncomingMessage, response: ServerResponse, error: ChatError, status?: number): void {
  response.statusCode = status ?? statusOf(error.code);
  response.setHeader('content-type', jsonTypeFor(request.headers.accept ?? null));
  if (error.code === 'UNAUTHENTICATED') {
    response.setHeader('www-authenticate', 'Bearer');
  }
  if (error.code === 'UNAVAILABLE') {
    response.setHeader('retry-after', '1');
  }
  dropUnreadBody(request, response);
  response.end(bodyOf(error, String(response.getHeader('x-request-id'))));
}

const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

/** The same for a WebSocket that is not to be opened, where there is only the bare connection. */
export function refuseUpgrade(socket: Duplex, error: ChatError): void {
  const body = bodyOf(error);
  const status = statusOf(error.code);
  socket.end(
    [
      `HTTP/1.1 ${status} ${reasons[status] ?? 'Refused'}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}
