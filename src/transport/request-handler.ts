import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../auth/authenticate.js';
import { ChatError } from '../errors.js';
import type { Logger } from '../observability/log.js';
import type { OperationRecord, TransportName } from '../observability/operation-log.js';
import { acceptsHtml, acceptsOnlyStream } from './accept.js';
import { atTime } from './at-time.js';
import { allowOrigin, answerPreflight } from './cors.js';
import type { EventStream } from './event-stream.js';
import { createGraphiQL } from './graphiql.js';
import type { GraphQLServer, HttpContext } from './graphql-server.js';
import { answerHealth, answerReadiness } from './health.js';
import { answerLandingPage } from './landing-page.js';
import { Operation } from './operation.js';
import type { TransportOptions } from './options.js';
import { isHostAllowed, isOriginAllowed, type OriginRules } from './origin.js';
import { endpoint, pathOf } from './paths.js';
import { readBody } from './read-body.js';
import { refuse, stopping } from './refuse.js';
import { boundReading, formProblemOf, sendResponse } from './send-response.js';

export interface RequestHandlerParts {
  readonly graphql: GraphQLServer;
  readonly originRules: OriginRules;
  readonly beginRecord: (start: { requestId: string; transport: TransportName }) => OperationRecord;
  /** The streams that are open, to be cut when the server stops. */
  readonly eventStreams: Set<EventStream>;
  readonly stalledReaderMs: number;
  readonly isReady: () => Promise<boolean>;
  readonly isDraining: () => boolean;
  readonly now: () => number;
}

const requestIdForm = /^[\w.:-]{1,128}$/;

/** A proxy's id, so that its log and ours can be joined, or a new one. */
function requestIdOf(request: IncomingMessage, newId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && requestIdForm.test(given) ? given : newId();
}

/** Media types know no case and may be followed by blanks, but yoga compares them letter by letter. */
function mediaType({ headers }: IncomingMessage): { 'content-type'?: string } {
  const given = headers['content-type'];
  if (given === undefined) {
    return {};
  }
  const [type = '', ...parameters] = given.split(';');
  return { 'content-type': [type.trim().toLowerCase(), ...parameters].join(';') };
}

/** The request for yoga. Who is asked as which host is settled by now, and yoga reads only path and parameters. */
const toFetchRequest = (graphql: GraphQLServer, request: IncomingMessage, body: Buffer | null): Request =>
  new graphql.fetchAPI.Request(`http://localhost${request.url ?? endpoint}`, {
    method: request.method ?? 'GET',
    headers: { ...(request.headers as Record<string, string>), ...mediaType(request) },
    body: body as Buffer<ArrayBuffer> | null,
  });

/** Everything that is answered over plain HTTP. */
export function createRequestHandler(options: TransportOptions, parts: RequestHandlerParts) {
  const { authenticate, authRequired, config, log, newId } = options;
  const { graphql, originRules, beginRecord, eventStreams, stalledReaderMs, isReady, isDraining, now } = parts;
  const answerGraphiQL = createGraphiQL({ authRequired });

  async function answerOperation(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const transport = acceptsOnlyStream(request.headers.accept ?? null) ? 'sse' : 'http';
    const record = beginRecord({ requestId, transport });
    let operation: Operation | null = null;
    response.once('close', () => {
      const left = !response.writableFinished;
      record.end(left);
      operation?.end(left);
    });
    const refuseWith = (refusal: ChatError, status?: number) => {
      record.failed([{ code: refusal.code, cause: refusal }]);
      refuse(request, response, refusal, status);
    };
    if (isDraining()) {
      refuseWith(stopping());
      return;
    }
    let identity: Identity;
    try {
      identity = await authenticate(request.headers.authorization ?? null);
    } catch (error) {
      refuseWith(error instanceof ChatError ? error : new ChatError('INTERNAL', undefined, { cause: error }));
      return;
    }
    let body: Buffer | null;
    try {
      body = request.method === 'GET' ? null : await readBody(request, config.maxRequestBytes);
    } catch (error) {
      if (error instanceof ChatError) {
        refuseWith(error, 413);
      }
      return;
    }
    operation = new Operation({ principal: identity.principal, requestId, operationId: null, transport, record });
    if (response.closed) {
      operation.end(true);
    }
    const reply: HttpContext['reply'] = { eventStream: null };
    const answer = await graphql.handleRequest(toFetchRequest(graphql, request, body), {
      scope: operation,
      reply,
    });
    const problem = formProblemOf(answer);
    if (problem !== null) {
      refuseWith(problem, answer.status);
      return;
    }
    const { eventStream } = reply;
    if (eventStream !== null) {
      // The response may be closed by now, so what is to be undone hangs on the stream, which is closed in any case.
      eventStreams.add(eventStream);
      eventStream.once('close', () => eventStreams.delete(eventStream));
      if (identity.expiresAt !== null) {
        eventStream.once(
          'close',
          atTime(identity.expiresAt, () => eventStream.cut(), now),
        );
      }
    }
    await sendResponse(request, response, { answer, stream: eventStream, stalledReaderMs });
  }

  async function route(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const path = pathOf(request);
    if (path === '/healthz') {
      answerHealth(response);
    } else if (path === '/readyz') {
      await answerReadiness(response, { draining: isDraining(), isReady });
    } else if (!isHostAllowed(request.headers, originRules)) {
      refuse(request, response, new ChatError('FORBIDDEN', 'This server does not go by that name.'));
    } else if (path === endpoint) {
      if (!isOriginAllowed(request.headers, originRules)) {
        refuse(
          request,
          response,
          new ChatError(
            'FORBIDDEN',
            'Pages of this origin may not call this server. Its operator can allow it in CORS_ORIGINS.',
          ),
        );
        return;
      }
      allowOrigin(request, response);
      if (request.method === 'OPTIONS') {
        answerPreflight(response);
      } else if (config.graphiql && request.method === 'GET' && acceptsHtml(request.headers.accept ?? null)) {
        await answerGraphiQL(request, response);
      } else {
        await answerOperation(request, response, requestId);
      }
    } else if (path === '/' && (request.method === 'GET' || request.method === 'HEAD')) {
      const { host = '' } = request.headers;
      answerLandingPage(response, { base: `http://${host}`, graphiql: config.graphiql, authRequired });
    } else {
      refuse(request, response, new ChatError('NOT_FOUND', `There is nothing here. The endpoint is ${endpoint}.`));
    }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const requestId = requestIdOf(request, newId);
    response.setHeader('x-request-id', requestId);
    response.setHeader('x-content-type-options', 'nosniff');
    try {
      await route(request, response, requestId);
    } catch (error) {
      log.error({ requestId, err: error }, 'a request could not be answered');
      fail(request, response, log);
    }
    boundReading(request, response, stalledReaderMs);
  };
}

function fail(request: IncomingMessage, response: ServerResponse, log: Logger): void {
  if (response.headersSent) {
    log.debug('the answer had begun');
    response.destroy();
  } else {
    refuse(request, response, new ChatError('INTERNAL'));
  }
}
