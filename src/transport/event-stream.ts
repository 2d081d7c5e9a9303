import { type Duplex, Readable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { watchJam } from './jam.js';
import type { TransportTiming } from './options.js';

/** A comment: keeps proxies from closing a silent connection, and is no event for any client. */
const comment = ':\n\n';
const complete = 'event: complete\ndata: \n\n';
const frame = (result: ExecutionResult) => `event: next\ndata: ${JSON.stringify(result)}\n\n`;

/** Nothing may collect, hold back or change a stream on its way; nginx collects unless it is told not to. */
export const eventStreamHeaders = Object.freeze({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
});

export interface EventStream extends Readable {
  /** Ends the stream without its `complete`, by which clients know that they should subscribe again. */
  cut(): void;
  /** Calls `onStalled` when nothing of the stream gets away over its connection for `stalledReader`. */
  watch(connection: Duplex, onStalled: () => void): void;
}

/**
 * Results as a GraphQL-over-SSE stream of its own connection. Each result is pulled when the one before it has left,
 * so a reader that stops stops the source too; comments go on between results, and again after a slow moment.
 * Destroying the stream ends the source.
 */
export function createEventStream(
  source: AsyncIterator<ExecutionResult>,
  { keepAlive, stalledReader }: Pick<TransportTiming, 'keepAlive' | 'stalledReader'>,
): EventStream {
  let pulling = false;
  let cut = false;
  let checkReader = () => {};
  const endSource = async () => {
    try {
      await source.return?.();
    } catch {
      // Nobody listens to the source any more.
    }
  };
  const pull = async () => {
    const step = await source.next();
    pulling = false;
    if (stream.destroyed || cut) {
      return;
    }
    if (!step.done) {
      stream.push(frame(step.value));
      return;
    }
    clearInterval(ping);
    stream.push(complete);
    stream.push(null);
  };
  const stream = new Readable({
    read() {
      if (!pulling && !cut) {
        pulling = true;
        pull().catch((error) => stream.destroy(error));
      }
    },
    destroy(error, callback) {
      clearInterval(ping);
      void endSource();
      callback(error);
    },
  });
  const ping = setInterval(() => {
    checkReader();
    // Where something waits to be read a comment would only be more of it.
    if (stream.readableLength === 0) {
      stream.push(comment);
    }
  }, keepAlive);
  // Some clients wait for a first byte before they call a stream open.
  stream.push(comment);
  return Object.assign(stream, {
    cut() {
      cut = true;
      clearInterval(ping);
      stream.push(null);
      void endSource();
    },
    watch(connection: Duplex, onStalled: () => void) {
      const jam = watchJam({ connection, now: () => performance.now() });
      checkReader = () => {
        if (jam().lastsMs > stalledReader) {
          onStalled();
        }
      };
    },
  });
}

/** One result as a whole stream, for clients that accept nothing but streams. */
export const eventStreamOf = (result: ExecutionResult): string => comment + frame(result) + complete;
