import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Bytes that may wait in this process for a client that reads too slowly, before its sources are held back. */
const mostWaiting = 16_384;

/**
 * Sends messages over a socket. What is sent in one turn of the event loop leaves in one write: the end of a chat turn is
 * three messages, and a system call costs more than all that was done to make them.
 *
 * @param connection what the WebSocket runs on
 * @returns resolves when the next message may be sent: at once, or, when too much waits already, when this one has left
 */
export function createSocketWriter(socket: WebSocket, connection: Duplex): (text: string) => Promise<void> {
  let corked = false;
  const release = () => {
    corked = false;
    connection.uncork();
  };
  return (text) => {
    if (socket.readyState !== socket.OPEN) return Promise.resolve();
    if (!corked) {
      corked = true;
      connection.cork();
      // After all that follows from this event without another one.
      process.nextTick(release);
    }
    if (connection.writableLength < mostWaiting) {
      socket.send(text, ignore);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      socket.send(text, (error) => (error ? reject(error) : resolve()));
    });
  };
}

/** A socket that fails says so itself, and is closed. */
const ignore = () => {};
