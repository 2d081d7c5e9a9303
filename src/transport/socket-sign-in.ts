import type { IncomingMessage } from 'node:http';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Authenticate, Identity } from '../auth/authenticate.js';
import { ChatError } from '../errors.js';
import type { Logger } from '../observability/log.js';
import { atTime } from './at-time.js';
import { keyOf } from './graphql-server.js';
import type { Seats } from './seats.js';
import { tryAgainLater } from './try-again-later.js';

/** `authorization`, in any spelling, among the connectionParams; else the header of the upgrade. */
function authorizationOf(
  params: Readonly<Record<string, unknown>> | undefined,
  request: IncomingMessage,
): string | null {
  const given = Object.entries(params ?? {}).find(([name]) => name.toLowerCase() === 'authorization');
  if (given === undefined) {
    return request.headers.authorization ?? null;
  }
  return typeof given[1] === 'string' ? given[1] : null;
}

/**
 * Finds out who is on a socket; null when it had to be closed. Stock clients reconnect after all of these codes except
 * 4401: a wrong token is not mended by trying again, while an expired one may have a successor by then.
 *
 * @param onExpired called when the token ends, so that nothing runs on
 */
export async function signIn(
  socket: WebSocket,
  request: IncomingMessage,
  params: Readonly<Record<string, unknown>> | undefined,
  {
    authenticate,
    seats,
    onExpired,
    log,
    now,
  }: {
    readonly authenticate: Authenticate;
    /** Sockets of one principal. */
    readonly seats: Seats;
    readonly onExpired: () => void;
    readonly log: Logger;
    readonly now: () => number;
  },
): Promise<Identity | null> {
  let identity: Identity;
  try {
    identity = await authenticate(authorizationOf(params, request));
  } catch (error) {
    const refusal = error instanceof ChatError ? error : new ChatError('INTERNAL', undefined, { cause: error });
    if (refusal.code === 'UNAUTHENTICATED') {
      log.info({ codes: [refusal.code], transport: 'ws' }, 'a socket was refused');
      socket.close(CloseCode.Unauthorized, refusal.message);
    } else {
      log.error({ err: refusal, transport: 'ws' }, 'a caller could not be identified');
      socket.close(tryAgainLater, 'Try again later');
    }
    return null;
  }
  const free = seats.take(keyOf(identity));
  if (free === null) {
    log.info({ codes: ['RATE_LIMITED'], transport: 'ws' }, 'a socket was refused');
    socket.close(tryAgainLater, 'Too many connections');
    return null;
  }
  if (socket.readyState !== socket.OPEN) {
    // It went while we asked.
    free();
    return null;
  }
  socket.once('close', free);
  if (identity.expiresAt !== null) {
    const cancel = atTime(
      identity.expiresAt,
      () => {
        socket.close(CloseCode.Forbidden, 'Token expired');
        onExpired();
      },
      now,
    );
    socket.once('close', cancel);
  }
  return identity;
}
