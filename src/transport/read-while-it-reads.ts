import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Bytes that may wait for a client before nothing more is read from it. */
const mostWaiting = 1_048_576;

/**
 * Takes no more messages from a client while it does not take the answers to those before: each of them, be it a ping,
 * would be one more to keep.
 */
export function readWhileItReads(socket: WebSocket, connection: Duplex): void {
  const check = () => {
    if (connection.writableLength > mostWaiting && !socket.isPaused) {
      socket.pause();
      connection.once('drain', () => socket.resume());
    }
  };
  socket.on('message', check);
  socket.on('ping', check);
}
