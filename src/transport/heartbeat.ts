import type { WebSocket } from 'ws';

export interface HeartbeatTiming {
  readonly keepAlive: number;
  readonly peerSilence: number;
}

/**
 * Pings a socket and drops it when nothing has been heard from it for too long, whatever it was: any frame is a sign
 * of life, and so is a backlog that gets shorter, since a slow reader's pong waits behind everything else.
 */
export function keepHeartbeat(socket: WebSocket, { keepAlive, peerSilence }: HeartbeatTiming): void {
  let heardAt = performance.now();
  let backlog = 0;
  const heard = () => {
    heardAt = performance.now();
  };
  const beat = setInterval(() => {
    if (socket.readyState !== socket.OPEN) {
      return;
    }
    if (socket.bufferedAmount < backlog) {
      heard();
    }
    backlog = socket.bufferedAmount;
    if (performance.now() - heardAt > peerSilence) {
      socket.terminate();
      return;
    }
    socket.ping();
    backlog = socket.bufferedAmount;
  }, keepAlive);
  beat.unref();
  socket.on('message', heard);
  socket.on('ping', heard);
  socket.on('pong', heard);
  socket.once('close', () => clearInterval(beat));
}
