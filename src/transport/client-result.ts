import type { ExecutionResult, GraphQLError } from 'graphql';
import { never } from './left-operation.js';
import { type MaskedError, type Masking, maskError } from './mask-error.js';
import type { OperationScope } from './options.js';

type Scope = Pick<OperationScope, 'requestId' | 'record' | 'isOver'>;

export interface ClientResults {
  /** Masks the errors of a result and notes them for the log. */
  errors(errors: readonly unknown[], scope: Scope): MaskedError[];
  /** A result as the client may see it. */
  result(result: ExecutionResult, scope: Scope): ExecutionResult;
  /**
   * The results of a subscription as the client may see them. It never throws: whatever goes wrong on the way becomes
   * one last result with one error, followed by the end, so that clients see the same over WebSocket and SSE. Once the
   * client has left, a `next` that waits stays open: nobody is to hear of this operation any more, see left-operation.ts.
   */
  stream(source: AsyncIterable<ExecutionResult>, scope: Scope): AsyncGenerator<ExecutionResult, void, undefined>;
}

export function createClientResults(masking: Omit<Masking, 'requestId'>): ClientResults {
  const errors = (found: readonly unknown[], scope: Scope): MaskedError[] => {
    const masked = found.map((error) => maskError(error, { ...masking, requestId: scope.requestId }));
    scope.record.failed(masked);
    return masked;
  };
  const withErrors = (result: ExecutionResult, found: readonly unknown[], scope: Scope): ExecutionResult => ({
    ...result,
    errors: errors(found, scope).map(({ error }): GraphQLError => error),
  });
  const result = (raw: ExecutionResult, scope: Scope): ExecutionResult =>
    raw.errors && raw.errors.length > 0 ? withErrors(raw, raw.errors, scope) : raw;

  return {
    errors,
    result,
    stream(source, scope) {
      const iterator = source[Symbol.asyncIterator]();
      const done = { done: true, value: undefined } as const;
      let ended = false;
      const end = () => {
        ended = true;
        return done;
      };
      return {
        async next() {
          if (ended) {
            return done;
          }
          try {
            const step = await iterator.next();
            if (scope.isOver) {
              return never();
            }
            if (step.done || ended) {
              return end();
            }
            scope.record.sent();
            return { done: false, value: result(step.value, scope) };
          } catch (error) {
            if (scope.isOver) {
              // Sources are woken by its signal; what they throw then is no news for anybody.
              return never();
            }
            if (ended) {
              return end();
            }
            ended = true;
            return { done: false, value: withErrors({}, [error], scope) };
          }
        },
        async return() {
          ended = true;
          await iterator.return?.();
          return done;
        },
        async throw(error) {
          ended = true;
          await iterator.return?.();
          throw error;
        },
        [Symbol.asyncIterator]() {
          return this;
        },
        async [Symbol.asyncDispose]() {
          await this.return();
        },
      };
    },
  };
}
