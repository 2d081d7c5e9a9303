import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols, type Server } from 'graphql-ws';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type { Authenticate } from '../auth/authenticate.js';
import { ChatError } from '../errors.js';
import type { Logger } from '../observability/log.js';
import type { OperationRecord } from '../observability/operation-log.js';
import { keepHeartbeat } from './heartbeat.js';
import type { TransportLimits, TransportTiming } from './options.js';
import { isHostAllowed, isOriginAllowed, type OriginRules } from './origin.js';
import { endpoint, pathOf } from './paths.js';
import { readWhileItReads } from './read-while-it-reads.js';
import { refuseUpgrade, stopping } from './refuse.js';
import { createSeats } from './seats.js';
import { serveSocket } from './socket.js';
import type { SocketState } from './socket-graphql.js';
import { createSocketOperations } from './socket-operations.js';
import { signIn } from './socket-sign-in.js';

export interface SocketServer {
  /** Takes an HTTP upgrade, or refuses it. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void;
  /** Sends home whoever runs nothing; the others follow when they are done. */
  drain(): void;
  /** Ends every socket so that its client reconnects, which finds another server or this one's successor. */
  closeAll(): void;
  terminateAll(): void;
  /** Operations of all sockets. */
  readonly running: number;
}

export interface SocketServerParts {
  readonly protocol: Server<SocketState>;
  readonly authenticate: Authenticate;
  readonly authRequired: boolean;
  readonly beginRecord: (start: { requestId: string; transport: 'ws' }) => OperationRecord;
  readonly limits: TransportLimits;
  readonly timing: TransportTiming;
  /** Bytes of one message. */
  readonly maxPayload: number;
  readonly originRules: OriginRules;
  readonly isDraining: () => boolean;
  readonly log: Logger;
  readonly newId: () => string;
  readonly now: () => number;
}

export function createSocketServer(parts: SocketServerParts): SocketServer {
  const { protocol, limits, timing, originRules, isDraining, log, newId } = parts;
  // The types of ws do not have closeTimeout yet.
  const serverOptions: ServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: parts.maxPayload,
    closeTimeout: timing.closing,
    handleProtocols,
  };
  const server = new WebSocketServer(serverOptions);
  const open = new Map<WebSocket, SocketState>();
  const seats = createSeats({ inAll: limits.sockets, perKey: limits.sockets });
  const seatsOfPrincipals = createSeats({
    inAll: limits.sockets,
    // Without authentication everybody is one principal.
    perKey: parts.authRequired ? limits.socketsPerPrincipal : limits.sockets,
  });

  const sendHome = (socket: WebSocket) => {
    socket.close(1001, 'Going away');
    open.get(socket)?.operations.leaveAll();
  };

  function serve(socket: WebSocket, request: IncomingMessage, connection: Duplex): void {
    const operations = createSocketOperations({
      limit: limits.operationsPerSocket,
      newId,
      beginRecord: parts.beginRecord,
      onIdle() {
        // Later, since the protocol still has to tell the client that its operation is complete.
        setImmediate(() => {
          if (isDraining() && operations.running === 0 && socket.readyState === socket.OPEN) {
            sendHome(socket);
          }
        });
      },
    });
    const state: SocketState = {
      request,
      operations,
      identity: null,
      async signIn(connectionParams) {
        state.identity = await signIn(socket, request, connectionParams, {
          ...parts,
          seats: seatsOfPrincipals,
          onExpired: () => operations.leaveAll(),
        });
        return state.identity !== null;
      },
    };
    open.set(socket, state);
    socket.once('close', () => open.delete(socket));
    keepHeartbeat(socket, connection, timing, (reason) => {
      log.info({ transport: 'ws', reason }, 'a socket was closed');
      operations.leaveAll();
    });
    readWhileItReads(socket, connection);
    serveSocket(socket, state, { protocol, connection, log });
  }

  function refusalOf(request: IncomingMessage): ChatError | null {
    if (isDraining()) {
      return stopping();
    }
    if (pathOf(request) !== endpoint) {
      return new ChatError('NOT_FOUND', `There is nothing here. The endpoint is ${endpoint}.`);
    }
    if (!isHostAllowed(request.headers, originRules)) {
      return new ChatError('FORBIDDEN', 'This server does not go by that name.');
    }
    return isOriginAllowed(request.headers, originRules)
      ? null
      : new ChatError(
          'FORBIDDEN',
          'Pages of this origin may not call this server. Its operator can allow it in CORS_ORIGINS.',
        );
  }

  return {
    upgrade(request, connection, head) {
      connection.on('error', () => {
        // A connection that breaks here has nobody to tell.
      });
      const refusal = refusalOf(request);
      const free = refusal === null ? seats.take('') : null;
      if (free === null) {
        refuseUpgrade(connection, refusal ?? new ChatError('RATE_LIMITED', 'Too many sockets are open.'));
        return;
      }
      connection.once('close', free);
      server.handleUpgrade(request, connection, head, (socket) => serve(socket, request, connection));
    },
    drain() {
      for (const [socket, { operations }] of [...open]) {
        if (operations.running === 0) {
          sendHome(socket);
        }
      }
    },
    closeAll() {
      for (const socket of [...open.keys()]) {
        sendHome(socket);
      }
    },
    terminateAll() {
      for (const socket of [...open.keys()]) {
        socket.terminate();
      }
    },
    get running() {
      return [...open.values()].reduce((sum, { operations }) => sum + operations.running, 0);
    },
  };
}
