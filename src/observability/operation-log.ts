import { type ErrorCategory, type ErrorCode, errorTable } from '../errors.js';
import type { Logger } from './log.js';

export type TransportName = 'http' | 'sse' | 'ws';
export type OperationKind = 'query' | 'mutation' | 'subscription';

/** One error of an operation: the code that the client got, and what it came from when that is worth a stack. */
export interface OperationFailure {
  readonly code: ErrorCode;
  readonly cause: unknown;
}

/** The log line of one operation, collected while it runs and written once, at its end. */
export interface OperationRecord {
  describe(kind: OperationKind, name: string | null): void;
  failed(failures: readonly OperationFailure[]): void;
  /** A result went to the client. */
  sent(): void;
  /** Writes the line; later calls do nothing. `left` means that the client went away first. */
  end(left?: boolean): void;
}

const levelOf = { user: 'info', provider: 'warn', system: 'error' } as const satisfies Record<ErrorCategory, string>;
const severity: readonly ErrorCategory[] = ['user', 'provider', 'system'];

/**
 * One line for each operation: what kind, its name, how long it took and how it ended; never variables, documents,
 * contents or tokens. The level follows from who has to act: `info` for the caller, `warn` for the provider, `error`
 * with the stack of the cause for this server. That a server which stops is unavailable is no fault of anybody.
 */
export function createOperationLog({
  log,
  now,
  isStopping = () => false,
}: {
  readonly log: Logger;
  readonly now: () => number;
  readonly isStopping?: () => boolean;
}) {
  return (start: { readonly requestId: string; readonly transport: TransportName }): OperationRecord => {
    const startedAt = now();
    const failures: OperationFailure[] = [];
    let kind: OperationKind | null = null;
    let operation: string | null = null;
    let results = 0;
    let written = false;
    return {
      describe(operationKind, name) {
        kind = operationKind;
        // A name is any length that the document has.
        operation = name?.slice(0, 100) ?? null;
      },
      failed(more) {
        failures.push(...more);
      },
      sent() {
        results += 1;
      },
      end(left = false) {
        if (written) {
          return;
        }
        written = true;
        const codes = [...new Set(failures.map(({ code }) => code))];
        const worst = failures.reduce<OperationFailure | null>((found, failure) => {
          const rank = (code: ErrorCode) => severity.indexOf(errorTable[code].category);
          return found === null || rank(failure.code) > rank(found.code) ? failure : found;
        }, null);
        const isNoFault = worst === null || (worst.code === 'UNAVAILABLE' && isStopping());
        const category = isNoFault ? 'user' : errorTable[worst.code].category;
        log[levelOf[category]](
          {
            requestId: start.requestId,
            // What is asked for in the accept header of a request shows only with the answer.
            transport: kind === 'subscription' && start.transport === 'http' ? 'sse' : start.transport,
            kind,
            operation,
            durationMs: Math.round(now() - startedAt),
            ...(kind === 'subscription' ? { results } : {}),
            ...(codes.length > 0 ? { codes } : {}),
            ...(failures.length > 1 ? { errors: failures.length } : {}),
            ...(left ? { left } : {}),
            ...(category === 'system' ? { err: worst?.cause } : {}),
          },
          'operation',
        );
      },
    };
  };
}
