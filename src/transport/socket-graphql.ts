import type { IncomingMessage } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql';
import { makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import type { Identity } from '../auth/authenticate.js';
import type { ClientResults } from './client-result.js';
import type { GraphQLServer } from './graphql-server.js';
import { unlessLeft } from './left-operation.js';
import type { OperationScope } from './options.js';
import { stopping } from './refuse.js';
import { checkJsonDepth } from './request-checks.js';
import type { SocketOperations } from './socket-operations.js';

/** One WebSocket, as the protocol sees it. */
export interface SocketState {
  readonly request: IncomingMessage;
  readonly operations: SocketOperations;
  /** Null until connection_init has been accepted. */
  identity: Identity | null;
  /** Takes the caller's token; false when the socket has been closed over it. */
  signIn(connectionParams: Readonly<Record<string, unknown>> | undefined): Promise<boolean>;
}

type Executed = ExecutionResult | AsyncIterable<ExecutionResult>;
type Execute = (args: ExecutionArgs) => Promise<Executed> | Executed;

const isStream = (result: object): result is AsyncIterable<ExecutionResult> => Symbol.asyncIterator in result;

/** Ends a stream that nobody will read. */
function discard(result: Executed): void {
  if (isStream(result)) {
    result[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {
        // Nobody listens to the source any more.
      });
  }
}

/**
 * The graphql-transport-ws protocol, with every operation going through the same pipeline as over HTTP. An error ends
 * the operation it belongs to, never the socket: one before the start as an `error` message, one in a subscription as
 * a last `next` with errors and a `complete`.
 */
export function createSocketGraphQL({
  graphql,
  results,
  connectionInitTimeout,
  isDraining,
}: {
  readonly graphql: GraphQLServer;
  readonly results: ClientResults;
  readonly connectionInitTimeout: number;
  readonly isDraining: () => boolean;
}): Server<SocketState> {
  // Which pipeline belongs to which arguments; graphql-ws hands the same object through.
  const pipelines = new WeakMap<object, { execute: Execute; subscribe: Execute; scope: OperationScope }>();
  const run = (step: 'execute' | 'subscribe') => async (args: ExecutionArgs) => {
    const pipeline = pipelines.get(args);
    if (pipeline === undefined) {
      throw new Error('an operation was not prepared');
    }
    try {
      return await unlessLeft(pipeline.scope, () => pipeline[step](args), discard);
    } catch (error) {
      return { errors: [error as GraphQLError] };
    }
  };

  async function prepare(scope: OperationScope, payload: SubscribePayload): Promise<ExecutionArgs | GraphQLError[]> {
    if (isDraining()) {
      throw stopping();
    }
    checkJsonDepth(payload);
    const pipeline = graphql.getEnveloped({ scope, params: payload });
    const document = pipeline.parse(payload.query);
    const problems: GraphQLError[] = pipeline.validate(pipeline.schema, document);
    if (problems.length > 0) {
      return problems;
    }
    const args: ExecutionArgs = {
      schema: pipeline.schema,
      document,
      operationName: payload.operationName ?? null,
      variableValues: payload.variables ?? null,
      contextValue: await pipeline.contextFactory(),
    };
    pipelines.set(args, { execute: pipeline.execute, subscribe: pipeline.subscribe, scope });
    return args;
  }

  return makeServer<Record<string, unknown>, SocketState>({
    connectionInitWaitTimeout: connectionInitTimeout,
    execute: run('execute'),
    subscribe: run('subscribe'),
    onConnect: ({ connectionParams, extra }) => extra.signIn(connectionParams),
    async onSubscribe({ extra }, id, payload) {
      try {
        if (extra.identity === null) {
          throw new Error('an operation came before the identity');
        }
        const scope = extra.operations.begin(id, payload, extra.identity);
        return await unlessLeft(scope, () => prepare(scope, payload));
      } catch (error) {
        return [
          error instanceof GraphQLError
            ? error
            : new GraphQLError('refused', { originalError: error instanceof Error ? error : new Error(String(error)) }),
        ];
      }
    },
    onOperation({ extra }, _id, payload, _args, result) {
      const scope = extra.operations.scopeOf(payload);
      if (!isStream(result)) {
        return results.result(result as ExecutionResult, scope);
      }
      const stream = results.stream(result, scope);
      extra.operations.streams(payload, stream);
      return stream;
    },
    onError({ extra }, _id, payload, errors) {
      const masked = results.errors(errors, extra.operations.scopeOf(payload));
      extra.operations.end(payload);
      return masked.map(({ error }) => error.toJSON());
    },
    onComplete: ({ extra }, _id, payload) => extra.operations.end(payload),
  });
}
