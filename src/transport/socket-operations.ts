import type { SubscribePayload } from 'graphql-ws';
import type { Identity } from '../auth/authenticate.js';
import { ChatError } from '../errors.js';
import type { OperationRecord } from '../observability/operation-log.js';
import { Operation } from './operation.js';
import type { OperationScope } from './options.js';

/** What runs on one WebSocket. */
export interface SocketOperations {
  /** @throws ChatError when the socket may not run one more */
  begin(id: string, payload: SubscribePayload, identity: Identity): OperationScope;
  scopeOf(payload: SubscribePayload): OperationScope;
  /** The results of a subscription, which are to end when it is left. */
  streams(payload: SubscribePayload, results: Results): void;
  /** The operation is over for the server: answered, completed or refused. */
  end(payload: SubscribePayload): void;
  /** The client has left the operation with this id. */
  leave(id: string): void;
  /** The socket is gone, or about to go. */
  leaveAll(): void;
  readonly running: number;
}

type Results = AsyncGenerator<unknown, void, undefined>;

interface Running {
  readonly id: string;
  readonly scope: Operation;
  results: Results | null;
}

export function createSocketOperations({
  limit,
  newId,
  beginRecord,
  onIdle,
}: {
  readonly limit: number;
  readonly newId: () => string;
  readonly beginRecord: (start: { requestId: string; transport: 'ws' }) => OperationRecord;
  readonly onIdle: () => void;
}): SocketOperations {
  // A payload is one object for the whole life of its operation, while an id may be used again after it.
  const running = new Map<SubscribePayload, Running>();
  const byId = new Map<string, SubscribePayload>();
  const scopes = new WeakMap<SubscribePayload, OperationScope>();

  const finish = (payload: SubscribePayload, operation: Running, left: boolean) => {
    running.delete(payload);
    if (byId.get(operation.id) === payload) {
      byId.delete(operation.id);
    }
    operation.scope.end(left);
    if (left) {
      // The protocol does the same, but not before a socket that is being closed is gone for good.
      operation.results?.return().catch(() => {
        // Nobody listens to the source any more.
      });
    }
    if (running.size === 0) {
      onIdle();
    }
  };

  return {
    begin(id, payload, identity) {
      const requestId = newId();
      const scope = new Operation({
        principal: identity.principal,
        requestId,
        operationId: id,
        transport: 'ws',
        record: beginRecord({ requestId, transport: 'ws' }),
      });
      scopes.set(payload, scope);
      const full = running.size >= limit;
      running.set(payload, { id, scope, results: null });
      byId.set(id, payload);
      if (full) {
        throw new ChatError('RATE_LIMITED', `${limit} operations run on this connection: end some first.`);
      }
      return scope;
    },
    scopeOf(payload) {
      const scope = scopes.get(payload);
      if (scope === undefined) {
        throw new Error('an operation was not begun');
      }
      return scope;
    },
    streams(payload, results) {
      const operation = running.get(payload);
      if (operation) {
        operation.results = results;
      }
    },
    end(payload) {
      const operation = running.get(payload);
      if (operation) {
        finish(payload, operation, false);
      }
    },
    leave(id) {
      const payload = byId.get(id);
      const operation = payload && running.get(payload);
      if (operation) {
        finish(payload, operation, true);
      }
    },
    leaveAll() {
      for (const [payload, operation] of [...running]) {
        finish(payload, operation, true);
      }
    },
    get running() {
      return running.size;
    },
  };
}
