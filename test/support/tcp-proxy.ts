import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { deferred } from './deferred.js';
import { freePort } from './free-port.js';
import { ProxiedConnection } from './tcp-connection.js';

/** A way to a server that a test can spoil: to ours, to Postgres, to Redis or to the provider. */
export interface TcpProxy {
  /** The given URL, leading through the proxy. */
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: readonly ProxiedConnection[];
  /** How many there have been. */
  readonly accepted: number;
  /** The next connection that is opened from now on, before any byte of it has passed. */
  nextConnection(): Promise<ProxiedConnection>;
  /** Decides about each new connection before any byte of it has passed. */
  onConnection(plan: (connection: ProxiedConnection) => void): void;
  /** From now on every byte takes this long in each direction, on connections there are and to come. */
  delay(ms: number): void;
  /** No connection passes anything on, neither those there are nor those to come. */
  stall(): void;
  resume(): void;
  /** Refuses new connections, as a port does that nobody listens on. Those there are stay. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Resets all connections at once. */
  reset(): void;
  /** Ends all connections with FIN on both sides. */
  end(): void;
  /** Resets every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Takes back `cut`, `stall` and `delay`. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

const usualPorts: Readonly<Record<string, number>> = { 'postgres:': 5432, 'postgresql:': 5432, 'redis:': 6379 };

function throughPort(target: string, port: number): string {
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  // A URL without a path gets one from its parser.
  return target.endsWith('/') ? url.href : url.href.replace(/\/$/, '');
}

/** Starts a proxy on loopback before the server that a URL of any scheme names. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: givenPort, protocol } = new URL(target);
  const targetPort = Number(givenPort) || (usualPorts[protocol] ?? 80);
  const port = await freePort();
  const connections = new Set<ProxiedConnection>();
  const waiting: ((connection: ProxiedConnection) => void)[] = [];
  let plan: (connection: ProxiedConnection) => void = () => {};
  let accepted = 0;
  let latencyMs = 0;
  let isStalled = false;
  let server: Server | null = null;

  async function accept(): Promise<void> {
    if (server) return;
    server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const upstream = connect({ host: hostname, port: targetPort, allowHalfOpen: true, noDelay: true });
      const connection = new ProxiedConnection(accepted++, client, upstream, () => latencyMs);
      connections.add(connection);
      void connection.closed.then(() => connections.delete(connection));
      if (isStalled) connection.stall();
      plan(connection);
      for (const tell of waiting.splice(0)) tell(connection);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  async function refuse(): Promise<void> {
    // The listening socket is closed at once; the event waits for the connections, which stay.
    server?.close();
    server = null;
  }

  const each = (act: (connection: ProxiedConnection) => void) => {
    for (const connection of [...connections]) act(connection);
  };
  const reset = () => each((connection) => connection.reset());
  const resume = () => {
    isStalled = false;
    each((connection) => connection.resume());
  };

  await accept();
  return {
    url: throughPort(target, port),
    get connections() {
      return [...connections];
    },
    get accepted() {
      return accepted;
    },
    nextConnection() {
      const next = deferred<ProxiedConnection>();
      waiting.push(next.resolve);
      return next.promise;
    },
    onConnection(decide) {
      plan = decide;
    },
    delay(ms) {
      latencyMs = ms;
    },
    stall() {
      isStalled = true;
      each((connection) => connection.stall());
    },
    resume,
    refuse,
    accept,
    reset,
    end: () => each((connection) => connection.end()),
    async cut() {
      await refuse();
      reset();
    },
    async mend() {
      latencyMs = 0;
      resume();
      await accept();
    },
    async close() {
      await refuse();
      reset();
      await Promise.all([...connections].map((connection) => connection.closed));
    },
  };
}
