import type { GraphQLSchema } from 'graphql';
import type { Authenticate } from '../auth/authenticate.js';
import type { Principal } from '../auth/principal.js';
import type { Config } from '../config.js';
import type { Logger } from '../observability/log.js';
import type { OperationRecord, TransportName } from '../observability/operation-log.js';

/** What the transport knows about an operation when its context is made. */
export interface OperationStart {
  readonly principal: Principal;
  /** Finds the operation in the log. Over HTTP it is the header x-request-id, given or made. */
  readonly requestId: string;
  /** The client's id of the operation on its WebSocket; null over HTTP and SSE. */
  readonly operationId: string | null;
  /** Aborted when the client has left or may no longer listen, when the server stops, and at the end at the latest. */
  signal(): AbortSignal;
}

/** An operation while it runs; lives in the GraphQL context beside what createContext gave. */
export interface OperationScope extends OperationStart {
  readonly transport: TransportName;
  readonly record: OperationRecord;
  /** Answered, completed, refused or left: whatever comes of it now reaches nobody. */
  readonly isOver: boolean;
  /** Calls `undo` when the operation is over, at once if it is. */
  onceOver(undo: () => void): void;
}

/** Bounds on what clients may take. Everything above is refused with RATE_LIMITED and can be tried again later. */
export interface TransportLimits {
  /** TCP connections of the process, all together. */
  readonly connections: number;
  readonly sockets: number;
  /** WebSockets of one principal, when callers are authenticated. */
  readonly socketsPerPrincipal: number;
  /** Operations that run on one WebSocket at a time. */
  readonly operationsPerSocket: number;
  /** Subscriptions of one principal over WebSocket and SSE together, when callers are authenticated. */
  readonly streamsPerPrincipal: number;
  readonly streams: number;
}

export const defaultLimits: TransportLimits = {
  connections: 10_000,
  sockets: 5_000,
  socketsPerPrincipal: 200,
  operationsPerSocket: 1_000,
  streamsPerPrincipal: 2_000,
  streams: 20_000,
};

/** Milliseconds. */
export interface TransportTiming {
  /** Between two pings of a WebSocket and two comments of an event stream. */
  readonly keepAlive: number;
  /**
   * How long nothing may be heard from a WebSocket before it counts as dead. Long enough for a client that stops
   * reading for half a minute, since from here it looks the same as one whose network is gone.
   */
  readonly peerSilence: number;
  /** How long a client may take nothing of what waits for it before its connection is closed. */
  readonly stalledReader: number;
  /** How long the client of a WebSocket that was closed may take to notice before the socket is dropped. */
  readonly closing: number;
  /** How long a new WebSocket may take until its connection_init. */
  readonly connectionInit: number;
  readonly requestHeaders: number;
  /** A whole request with its body. */
  readonly request: number;
  /** The longest wait for the readiness check. */
  readonly readiness: number;
}

/** `stalledReader` is a setting. */
export const defaultTiming: Omit<TransportTiming, 'stalledReader'> = {
  keepAlive: 12_000,
  peerSilence: 45_000,
  closing: 10_000,
  connectionInit: 3_000,
  requestHeaders: 10_000,
  request: 120_000,
  readiness: 1_000,
};

export interface TransportOptions {
  readonly config: Config['server'];
  readonly schema: GraphQLSchema;
  readonly authenticate: Authenticate;
  /** Whether `authenticate` asks for a token. Without it every caller is the local user, so browsers are held off. */
  readonly authRequired: boolean;
  /** What resolvers get, made anew for every operation. */
  readonly createContext: (start: OperationStart) => object | Promise<object>;
  /** Whether this process can do its work; asked by /readyz. */
  readonly readiness: () => Promise<boolean>;
  /** Tells an error that means "the database cannot be reached" from a fault of this server. */
  readonly isUnavailable: (error: unknown) => boolean;
  readonly log: Logger;
  readonly newId: () => string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly limits?: Partial<TransportLimits>;
  readonly timing?: Partial<TransportTiming>;
}

export interface Transport {
  /** Opens the port. `url` has no path: the endpoint is `${url}/graphql`. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** First step of a stop: not ready any more, no new connections and operations; what runs goes on. */
  drain(): void;
  /**
   * Second step: ends every stream so that clients reconnect elsewhere (WebSocket 1001, event streams without their
   * `complete`), lets requests that are being answered finish for up to `graceMs`, then drops what is left.
   */
  close(graceMs: number): Promise<void>;
}
