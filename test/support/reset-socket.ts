import type { Socket } from 'node:net';

/**
 * Closes a connection with RST and nothing before it. `socket.resetAndDestroy` sends FIN first, so the peer may take the
 * reset for an orderly end; this is what it does after that. A Node process that finds bytes and RST at once reads the
 * bytes and then an end: nothing on this side can change that.
 */
export function resetSocket(socket: Socket): void {
  Object.assign(socket, { resetAndClosing: true }).destroy();
}
