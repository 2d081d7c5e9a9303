import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { watchJam } from './jam.js';
import type { TransportTiming } from './options.js';
import { tryAgainLater } from './try-again-later.js';

/**
 * Pings a socket, and closes it when its client takes nothing of what is sent to it for `stalledReader`, or when there
 * is no sign of life for `peerSilence`. A sign is any frame that arrives. So is a jam that moves on: the pong of a slow
 * reader waits behind all that it has not read, so while there is a jam only the jam is judged.
 *
 * @param connection what the WebSocket runs on
 * @param onGivenUp called when the socket is closed over it, with the reason
 */
export function keepHeartbeat(
  socket: WebSocket,
  connection: Duplex,
  { keepAlive, peerSilence, stalledReader }: Pick<TransportTiming, 'keepAlive' | 'peerSilence' | 'stalledReader'>,
  onGivenUp: (reason: string) => void,
): void {
  const now = () => performance.now();
  const jam = watchJam({ connection, now });
  let aliveAt = now();
  const alive = () => {
    aliveAt = now();
  };
  const giveUp = (reason: string) => {
    // The client may only sleep: this is what it finds when it wakes up, if it does so before the socket is dropped.
    socket.close(tryAgainLater, reason);
    onGivenUp(reason);
  };
  const beat = setInterval(() => {
    if (socket.readyState !== socket.OPEN) {
      return;
    }
    const { lastsMs, moved } = jam();
    if (moved || lastsMs > 0) {
      alive();
    }
    if (lastsMs > stalledReader) {
      giveUp('Stopped reading');
    } else if (now() - aliveAt > peerSilence) {
      giveUp('No sign of life');
    } else {
      socket.ping();
    }
  }, keepAlive);
  beat.unref();
  socket.on('message', alive);
  socket.on('ping', alive);
  socket.on('pong', alive);
  socket.once('close', () => clearInterval(beat));
}
