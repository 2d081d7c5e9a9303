import type { IncomingMessage, ServerResponse } from 'node:http';
import { badInput, type ChatError } from '../errors.js';
import { type EventStream, eventStreamHeaders } from './event-stream.js';
import { dropUnreadBody } from './refuse.js';

/** Writes what yoga answered; a stream goes out as the client reads it and ends its source when the client leaves. */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Response,
  stream: EventStream | null,
): Promise<void> {
  if (response.destroyed || response.closed) {
    stream?.destroy();
    return;
  }
  if (stream !== null) {
    response.writeHead(200, eventStreamHeaders);
    response.once('close', () => stream.destroy());
    stream.once('error', () => response.destroy());
    stream.pipe(response);
    return;
  }
  const body = await answer.text();
  response.statusCode = answer.status;
  answer.headers.forEach((value, name) => {
    response.setHeader(name, value);
  });
  response.setHeader('cache-control', 'no-store');
  dropUnreadBody(request, response);
  response.end(body);
}

/** Yoga answers a request whose form it cannot read with a bare status; clients get a sentence with it. */
export function formProblemOf(answer: Response): ChatError | null {
  if (answer.status < 400 || answer.headers.has('content-type')) {
    return null;
  }
  return badInput(
    answer.status === 415
      ? 'Send the operation as JSON, with content-type application/json.'
      : 'Accept application/graphql-response+json, application/json or text/event-stream.',
  );
}
