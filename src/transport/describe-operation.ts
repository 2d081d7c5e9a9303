import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { OperationScope } from './options.js';

/** Tells the log record of an operation what kind of operation it is and what its client calls it. */
export function useOperationDescription(): Plugin<{ scope: OperationScope }> {
  return {
    onParse:
      ({ context: { scope, params } }) =>
      ({ result }) => {
        if (result === null || result instanceof Error) {
          return;
        }
        const operation = getOperationAST(result, params?.operationName);
        if (operation) {
          scope.record.describe(operation.operation, operation.name?.value ?? null);
        }
      },
  };
}
