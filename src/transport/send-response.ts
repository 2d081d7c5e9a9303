import type { IncomingMessage, ServerResponse } from 'node:http';
import { badInput, type ChatError } from '../errors.js';
import { type EventStream, eventStreamHeaders } from './event-stream.js';
import { dropUnreadBody } from './refuse.js';

/** An answer that is complete may take so long without any of it being read, then Node drops the connection. */
export function boundReading({ socket }: IncomingMessage, response: ServerResponse, stalledReaderMs: number): void {
  if (response.writableEnded && !response.writableFinished) {
    socket.setTimeout(stalledReaderMs);
  }
}

/** Writes what yoga answered; a stream goes out as the client reads it and ends its source when the client leaves. */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  {
    answer,
    stream,
    stalledReaderMs,
  }: { readonly answer: Response; readonly stream: EventStream | null; readonly stalledReaderMs: number },
): Promise<void> {
  if (response.destroyed || response.closed) {
    stream?.destroy();
    return;
  }
  if (stream !== null) {
    response.writeHead(200, eventStreamHeaders);
    response.once('close', () => stream.destroy());
    stream.once('error', () => response.destroy());
    stream.watch(request.socket, () => response.destroy());
    stream.pipe(response);
    stream.once('end', () => boundReading(request, response, stalledReaderMs));
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
