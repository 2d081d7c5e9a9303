import type { Duplex } from 'node:stream';
import { CloseCode, MessageType, parseMessage, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Logger } from '../observability/log.js';
import type { SocketState } from './socket-graphql.js';
import { createSocketWriter } from './socket-writer.js';

/** Before a caller is known there is only connection_init, with a token. */
const longestFirstMessage = 16_384;

/** The operation that a client leaves with this message, if it is such a message. */
function leftOperation(text: string): string | null {
  if (!text.includes('"complete"')) {
    return null;
  }
  try {
    const message = JSON.parse(text) as { type?: unknown; id?: unknown } | null;
    return message?.type === 'complete' && typeof message.id === 'string' ? message.id : null;
  } catch {
    return null;
  }
}

const serverMessages: readonly MessageType[] = [MessageType.ConnectionAck, MessageType.Next, MessageType.Error];

/** A well-formed message that only servers send. The protocol throws over it, as if the fault were ours. */
function isOfServer(text: string): boolean {
  try {
    return serverMessages.includes(parseMessage(text).type);
  } catch {
    return false;
  }
}

/**
 * Connects a WebSocket of `ws` with the protocol. Results wait while too much of what came before them has not left
 * this process, which is what holds back the source of a reader that is slow.
 */
export function serveSocket(
  socket: WebSocket,
  state: SocketState,
  {
    protocol,
    connection,
    log,
  }: { readonly protocol: Server<SocketState>; readonly connection: Duplex; readonly log: Logger },
): void {
  const { operations } = state;
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      send: createSocketWriter(socket, connection),
      close: (code, reason) => socket.close(code, reason),
      onMessage(handle) {
        const receive = async (text: string) => {
          const handled = handle(text);
          // The protocol asks the source to end; what still waits inside of it is woken by the signal.
          const left = leftOperation(text);
          if (left !== null) {
            operations.leave(left);
          }
          await handled;
        };
        socket.on('message', (data) => {
          if (socket.readyState !== socket.OPEN) {
            // We have closed it, over a token that ran out for example, and its client has not taken notice yet.
            return;
          }
          const text = String(data);
          if (state.identity === null && text.length > longestFirstMessage) {
            socket.close(CloseCode.BadRequest, 'The first message is too long');
            return;
          }
          receive(text).catch((error: unknown) => {
            if (isOfServer(text)) {
              log.debug({ err: error }, 'a client sent a message of a server');
              socket.close(CloseCode.BadRequest, 'Invalid message received');
              return;
            }
            log.error({ err: error }, 'a message of a socket could not be handled');
            socket.close(CloseCode.InternalServerError, 'Internal server error');
          });
        });
      },
    },
    state,
  );
  socket.on('error', (error) => {
    // Too large a message, a broken frame, a reset: ws closes the socket by itself.
    log.debug({ err: error }, 'a socket failed');
  });
  socket.once('close', (code, reason) => {
    operations.leaveAll();
    closed(code, String(reason)).catch((error: unknown) => {
      log.error({ err: error }, 'a closed socket could not be cleaned up');
    });
  });
}
