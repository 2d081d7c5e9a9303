import { once } from 'node:events';
import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createInbox, type Inbox, type Result } from './results.js';

const socketUrl = (url: string) => url.replace(/^http/, 'ws');

/** The stock client, as frontends use it. `url` is that of the endpoint, http or ws. */
export const wsClient = (url: string, options: Partial<ClientOptions> = {}): Client =>
  createClient({ url: socketUrl(url), webSocketImpl: WebSocket, retryAttempts: 0, ...options });

export interface Subscription {
  /** The next result; null after the end. Rejects with what the client's sink got as an error. */
  next(): Promise<Result | null>;
  /** Every result until the end. */
  rest(): Promise<Result[]>;
  readonly waiting: readonly Result[];
  /** Unsubscribes. */
  leave(): void;
}

/** One operation over the stock client. */
export function subscribe(client: Client, query: string, variables?: Record<string, unknown>): Subscription {
  const inbox: Inbox<Result> = createInbox();
  const leave = client.subscribe(variables ? { query, variables } : { query }, {
    next: (result) => inbox.put(result as Result),
    error: (error) => inbox.end(error instanceof Error ? error : new Error(JSON.stringify(error), { cause: error })),
    complete: () => inbox.end(),
  });
  return { next: inbox.take, rest: inbox.rest, waiting: inbox.waiting, leave };
}

/** One frame of the graphql-transport-ws protocol. */
export interface Frame {
  readonly type: string;
  readonly id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a result, a list of errors, or nothing.
  readonly payload?: any;
}

export interface RawSocket {
  readonly socket: WebSocket;
  send(frame: Frame | string): void;
  /** The next frame of any kind; null after the close. */
  receive(): Promise<Frame | null>;
  /** The next frame with this operation id, past those of others. */
  receiveFor(id: string): Promise<Frame | null>;
  /** Sends connection_init and awaits the answer: the ack, or null when the server closes. */
  init(payload?: Record<string, unknown>): Promise<Frame | null>;
  subscribe(id: string, query: string, variables?: Record<string, unknown>): void;
  complete(id: string): void;
  /** Protocol-level pings that came so far. */
  readonly pings: number;
  nextPing(): Promise<void>;
  /** How the socket ended. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): Promise<void>;
}

export interface RawSocketOptions {
  readonly headers?: Record<string, string>;
  readonly protocol?: string | null;
  readonly origin?: string;
}

/**
 * A socket that sends what it is told, also what no proper client would.
 *
 * @throws Error `Unexpected server response: 403` when the upgrade is refused
 */
export async function rawSocket(url: string, options: RawSocketOptions = {}): Promise<RawSocket> {
  const { headers = {}, protocol = 'graphql-transport-ws', origin } = options;
  const socket = new WebSocket(socketUrl(url), protocol === null ? [] : [protocol], {
    headers,
    ...(origin === undefined ? {} : { origin }),
  });
  const inbox: Inbox<Frame> = createInbox();
  const byId = new Map<string, Inbox<Frame>>();
  let isClosed = false;
  const inboxOf = (id: string) => {
    const own = byId.get(id) ?? createInbox<Frame>();
    byId.set(id, own);
    if (isClosed) {
      own.end();
    }
    return own;
  };
  let pings = 0;
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Frame;
    inbox.put(frame);
    if (frame.id !== undefined) {
      inboxOf(frame.id).put(frame);
    }
  });
  socket.on('ping', () => {
    pings += 1;
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      isClosed = true;
      inbox.end();
      for (const own of byId.values()) {
        own.end();
      }
      resolve({ code, reason: String(reason) });
    });
  });
  await once(socket, 'open');
  socket.on('error', () => {
    // The close that follows tells what tests want to know.
  });
  const send = (frame: Frame | string) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  return {
    socket,
    send,
    receive: inbox.take,
    receiveFor: (id) => inboxOf(id).take(),
    async init(payload) {
      send(payload ? { type: 'connection_init', payload } : { type: 'connection_init' });
      return inbox.take();
    },
    subscribe: (id, query, variables) =>
      send({ id, type: 'subscribe', payload: variables ? { query, variables } : { query } }),
    complete: (id) => send({ id, type: 'complete' }),
    get pings() {
      return pings;
    },
    async nextPing() {
      await once(socket, 'ping');
    },
    closed,
    async close() {
      socket.close();
      await closed;
    },
  };
}

/** The HTTP status with which an upgrade is refused; 101 when it is not. */
export function upgradeStatus(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(socketUrl(url), ['graphql-transport-ws'], { headers });
    socket.once('upgrade', (response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.once('unexpected-response', (request, response) => {
      resolve(response.statusCode ?? 0);
      request.destroy();
    });
    socket.on('error', reject);
  });
}
