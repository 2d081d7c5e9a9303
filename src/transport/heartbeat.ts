import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

export interface HeartbeatTiming {
  readonly keepAlive: number;
  readonly peerSilence: number;
}

/** Bytes that this process has handed on. */
const handedOn = (connection: Duplex & { readonly bytesWritten?: number }): number =>
  (connection.bytesWritten ?? 0) - connection.writableLength;

/**
 * Pings a socket and drops it when there has been no sign of life for too long. A sign is any frame that arrives. So is
 * a jam that moves on: while the system takes no more from us, room comes only from what the client has taken from it,
 * and the pong of a slow reader waits behind all of that.
 *
 * @param connection what the WebSocket runs on
 */
export function keepHeartbeat(
  socket: WebSocket,
  connection: Duplex,
  { keepAlive, peerSilence }: HeartbeatTiming,
): void {
  let aliveAt = performance.now();
  let jammedAt: number | null = null;
  const alive = () => {
    aliveAt = performance.now();
  };
  const beat = setInterval(() => {
    if (socket.readyState !== socket.OPEN) {
      return;
    }
    if (jammedAt !== null && handedOn(connection) > jammedAt) {
      alive();
    }
    if (performance.now() - aliveAt > peerSilence) {
      socket.terminate();
      return;
    }
    jammedAt = connection.writableLength > 0 ? handedOn(connection) : null;
    socket.ping();
  }, keepAlive);
  beat.unref();
  socket.on('message', alive);
  socket.on('ping', alive);
  socket.on('pong', alive);
  socket.once('close', () => clearInterval(beat));
}
