import { type ExecutionResult, GraphQLError } from 'graphql';
import {
  _createLRUCache as createCache,
  createYoga,
  isAsyncIterable,
  type Plugin,
  type YogaServerInstance,
} from 'graphql-yoga';
import { ChatError } from '../errors.js';
import { acceptsOnlyStream, acceptsStream, jsonTypeFor } from './accept.js';
import type { ClientResults } from './client-result.js';
import { useOperationDescription } from './describe-operation.js';
import { useDocumentLimits } from './document-limits.js';
import { useEventExecution } from './event-execution.js';
import { createEventStream, type EventStream, eventStreamHeaders, eventStreamOf } from './event-stream.js';
import { statusOf } from './mask-error.js';
import type { OperationScope, TransportOptions, TransportTiming } from './options.js';
import { endpoint } from './paths.js';
import { useRequestChecks } from './request-checks.js';
import type { Seats } from './seats.js';

/** What an HTTP request brings along into yoga. */
export interface HttpContext {
  readonly scope: OperationScope;
  /** Where an answer that is a stream is left, since it goes around yoga's Response. */
  readonly reply: { eventStream: EventStream | null };
}

export type GraphQLServer = YogaServerInstance<HttpContext, object>;

/** One key for each principal; a NUL cannot be in either name. */
export const keyOf = ({ principal }: Pick<OperationScope, 'principal'>): string =>
  `${principal.tenant}\0${principal.owner}`;

const asGraphQLError = (error: Error) => new GraphQLError(error.message, { originalError: error });

/** Stops a subscription before it has any effect, when its results could not be sent or there are too many. */
function useSubscriptionChecks(streams: Seats): Plugin<HttpContext, HttpContext> {
  return {
    onSubscribe({ args, setResultAndStopExecution }) {
      const { scope, request } = args.contextValue as typeof args.contextValue & { request?: Request };
      if (request && !acceptsStream(request.headers.get('accept'))) {
        setResultAndStopExecution({
          errors: [
            new GraphQLError('A subscription answers with a stream: send the header accept: text/event-stream.', {
              extensions: { code: 'BAD_USER_INPUT', http: { status: 406 } },
            }),
          ],
        });
        return;
      }
      if (scope.isOver) {
        // Its client has left while it was prepared: a place that was taken now would never be free again.
        setResultAndStopExecution({ errors: [asGraphQLError(new ChatError('UNAVAILABLE'))] });
        return;
      }
      const free = streams.take(keyOf(scope));
      if (free === null) {
        setResultAndStopExecution({
          errors: [asGraphQLError(new ChatError('RATE_LIMITED', 'Too many subscriptions are open: end some first.'))],
        });
        return;
      }
      scope.onceOver(free);
    },
  };
}

/** Masks what leaves over HTTP, and turns results into the form that the client asked for. */
function useClientResults(results: ClientResults, timing: TransportTiming): Plugin<HttpContext, HttpContext> {
  return {
    onResultProcess({ request, result, setResult, setResultProcessor, serverContext }) {
      const { scope } = serverContext;
      if (isAsyncIterable(result)) {
        serverContext.reply.eventStream = createEventStream(results.stream(result, scope), timing);
        setResultProcessor((_result, fetchAPI) => new fetchAPI.Response(null), 'text/event-stream');
        return;
      }
      const single = result as ExecutionResult;
      const masked = results.errors(single.errors ?? [], scope);
      const errors = masked.length > 0 ? { errors: masked.map(({ error }) => error) } : {};
      const refusal = masked.find(({ http }) => http?.status !== undefined && !http.spec)?.http;
      if (acceptsOnlyStream(request.headers.get('accept'))) {
        setResultProcessor(
          (_result, fetchAPI) =>
            // A request that never got as far as GraphQL is refused in HTTP's own way.
            refusal
              ? new fetchAPI.Response(JSON.stringify(errors), {
                  status: refusal.status ?? 400,
                  headers: { ...refusal.headers, 'content-type': jsonTypeFor(null) },
                })
              : new fetchAPI.Response(eventStreamOf({ ...single, ...errors }), { headers: { ...eventStreamHeaders } }),
          'text/event-stream',
        );
      } else if (masked.length > 0) {
        setResult({
          ...single,
          errors: masked.map(({ error, code, http }) =>
            // Yoga takes http out again before it writes the answer.
            withHttp(error, http ?? ('data' in single ? null : { status: statusOf(code) })),
          ),
        });
      }
    },
  };
}

function withHttp(error: GraphQLError, http: object | null): GraphQLError {
  if (http !== null) {
    Object.assign(error.extensions, { http });
  }
  return error;
}

/**
 * Yoga with everything that every operation passes, whatever it came over: limits, log, context, masking. Requests
 * come through `handleRequest`, operations of WebSockets through `getEnveloped`.
 */
export function createGraphQLServer(
  { schema, createContext }: TransportOptions,
  { results, streams, timing }: { results: ClientResults; streams: Seats; timing: TransportTiming },
): GraphQLServer {
  return createYoga<HttpContext, object>({
    schema,
    graphqlEndpoint: endpoint,
    // These are answered before yoga is asked, see request-handler.ts.
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    // Errors are masked and logged here, once, with the request id.
    maskedErrors: false,
    logging: false,
    // The body is read before yoga is asked, within its limit.
    maxRequestBodySize: false,
    parserAndValidationCache: {
      // Parsed documents are large; those of an attacker are all different.
      documentCache: createCache({ max: 200 }),
      errorCache: createCache({ max: 1 }),
    },
    context: ({ scope }) => {
      const { principal, requestId, operationId } = scope;
      return createContext({ principal, requestId, operationId, signal: () => scope.signal() });
    },
    plugins: [
      useRequestChecks(),
      useDocumentLimits(),
      useOperationDescription(),
      useEventExecution(),
      useSubscriptionChecks(streams),
      useClientResults(results, timing),
    ],
  });
}
