import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOperationLog } from '../observability/operation-log.js';
import { createClientResults } from './client-result.js';
import type { EventStream } from './event-stream.js';
import { createGraphQLServer } from './graphql-server.js';
import { createReadiness } from './health.js';
import { createLastAnswers } from './last-answers.js';
import { listenError } from './listen-error.js';
import { defaultLimits, defaultTiming, type Transport, type TransportOptions } from './options.js';
import { createRequestHandler } from './request-handler.js';
import { createSeats } from './seats.js';
import { createSocketGraphQL } from './socket-graphql.js';
import { createSocketServer } from './websocket.js';

/** Sockets need a moment for their closing handshake even when there is no grace. */
const shortestGraceMs = 250;

/** How long streams that have come to their end may take to say so. */
const lastWordsMs = 250;

const urlOf = ({ address, family, port }: AddressInfo): string => {
  const everywhere = address === '::' || address === '0.0.0.0';
  const host = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
};

/**
 * What streams has usually just come to its end, since turns end before the transport does: those streams get to tell
 * of it, the others are cut when the time is up.
 */
async function lastWords(streaming: () => number): Promise<void> {
  const deadline = performance.now() + lastWordsMs;
  while (streaming() > 0 && performance.now() < deadline) await sleep(5);
}

/**
 * The server's face to its clients: GraphQL over HTTP, server-sent events and WebSocket at one endpoint, GraphiQL,
 * health checks, and an orderly stop. It knows nothing of chats: what it serves is the given schema.
 */
export function createTransport(options: TransportOptions): Transport {
  const { authRequired, config, log, newId, now = Date.now } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const timing = { ...defaultTiming, stalledReader: config.stalledReaderMs, ...options.timing };
  const originRules = { allowed: config.corsOrigins, loopbackOnly: !authRequired };
  const results = createClientResults({ isUnavailable: options.isUnavailable, hideSuggestions: authRequired });
  const eventStreams = new Set<EventStream>();
  const lastAnswers = createLastAnswers();
  let draining = false;
  const isDraining = () => draining;
  const beginRecord = createOperationLog({ log, now: () => performance.now(), isStopping: isDraining });

  const graphql = createGraphQLServer(options, {
    results,
    timing,
    streams: createSeats({
      inAll: limits.streams,
      perKey: authRequired ? limits.streamsPerPrincipal : limits.streams,
    }),
  });
  const answer = createRequestHandler(options, {
    graphql,
    originRules,
    beginRecord,
    eventStreams,
    stalledReaderMs: timing.stalledReader,
    isReady: createReadiness(options.readiness, timing.readiness),
    isDraining,
    now,
  });
  const server = createServer(
    {
      headersTimeout: timing.requestHeaders,
      requestTimeout: timing.request,
      connectionsCheckingInterval: Math.min(5_000, timing.requestHeaders),
      // Longer than proxies keep theirs, so that it is never this side that closes one they are about to use.
      keepAliveTimeout: 65_000,
      keepAlive: true,
      keepAliveInitialDelay: timing.keepAlive,
    },
    (request, response) => {
      lastAnswers.add(response);
      return answer(request, response);
    },
  );
  server.maxConnections = limits.connections;
  const sockets = createSocketServer({
    ...options,
    protocol: createSocketGraphQL({ graphql, results, connectionInitTimeout: timing.connectionInit, isDraining }),
    beginRecord,
    limits,
    timing,
    maxPayload: config.maxRequestBytes,
    originRules,
    isDraining,
    newId,
    now,
  });
  server.on('upgrade', sockets.upgrade);

  const drain = () => {
    draining = true;
    lastAnswers.begin();
    sockets.drain();
  };
  let closing: Promise<void> | null = null;
  const close = async (graceMs: number): Promise<void> => {
    drain();
    if (!server.listening) {
      return;
    }
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await lastWords(() => sockets.running + eventStreams.size);
    sockets.closeAll();
    for (const stream of eventStreams) {
      stream.cut();
    }
    // A connection becomes idle when its last answer has gone out, and would then be kept for the next request.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const deadline = setTimeout(
      () => {
        server.closeAllConnections();
        sockets.terminateAll();
      },
      Math.max(graceMs, shortestGraceMs),
    );
    await closed;
    clearInterval(idle);
    clearTimeout(deadline);
    await graphql.dispose();
  };

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        const fail = (error: NodeJS.ErrnoException) => reject(listenError(error, config));
        server.once('error', fail);
        server.listen(config.port, config.host, () => {
          server.off('error', fail);
          const address = server.address() as AddressInfo;
          resolve({ url: urlOf(address), port: address.port });
        });
      }),
    drain,
    close(graceMs) {
      closing ??= close(graceMs);
      return closing;
    },
  };
}
