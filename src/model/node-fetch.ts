import http from 'node:http';
import https from 'node:https';

/** Error bodies are read for their code only; nothing sensible is longer. */
const maxErrorBodyBytes = 65_536;

/** Longer than servers keep an idle connection, so mostly they close it; bounds what stays open to the others. */
const idleSocketMs = 60_000;

/** A response whose body stays a Node stream: reading it through a web stream costs more than parsing it. */
export interface StreamedResponse extends Response {
  /** The body of a 2xx response, as it comes off the wire. */
  readonly incoming: http.IncomingMessage;
}

/** For a body that breaks off after its reader has left, which must not end the process. */
const ignore = () => {};

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` for the SDK on node:http, with what a model call needs of it: a text as body, an abort signal, connections
 * that are kept alive. It follows no redirect, so a provider cannot send the key elsewhere; it knows no deadlines of its
 * own, so the caller's hold; it asks for no compression. A 2xx response is a StreamedResponse; any other has its body
 * read, up to a limit.
 */
export function createNodeFetch(): Fetch {
  const options = { keepAlive: true, timeout: idleSocketMs };
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) };

  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const isPlain = url.protocol === 'http:';
      const signal = init.signal ?? null;
      const request = (isPlain ? http : https).request(url, {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        agent: isPlain ? agents['http:'] : agents['https:'],
      });
      request.on('error', reject);
      request.once('response', (incoming) => {
        incoming.on('error', ignore);
        request.on('error', ignore);
        // As a listener it would keep the response, which its reader takes the body out of.
        const settle = () => request.off('error', reject);
        toResponse(incoming).finally(settle).then(resolve, reject);
      });
      if (signal && !abortWith(signal, request)) return;
      request.end(typeof init.body === 'string' ? init.body : undefined);
    });
}

/**
 * Ends a request when its signal fires; false when it has. Apart from what makes the request, since the listener lives
 * as long as the reply, and would keep body and headers of the request alive that long.
 */
function abortWith(signal: AbortSignal, request: http.ClientRequest): boolean {
  const abort = () => request.destroy(new DOMException('The call was aborted.', 'AbortError'));
  if (signal.aborted) {
    abort();
    return false;
  }
  signal.addEventListener('abort', abort, { once: true });
  request.once('close', () => signal.removeEventListener('abort', abort));
  return true;
}

async function toResponse(incoming: http.IncomingMessage): Promise<Response> {
  const status = incoming.statusCode ?? 0;
  const headers = new Headers();
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '');
  }
  if (status >= 200 && status < 300) {
    return Object.assign(new Response(null, { status, headers }), { incoming });
  }
  const text = await readText(incoming);
  return new Response(text === '' ? null : text, { status, headers });
}

async function readText(incoming: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  // Leaving the loop closes the connection, which is what an endless error body deserves.
  for await (const part of incoming as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length > maxErrorBodyBytes) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, maxErrorBodyBytes);
}
