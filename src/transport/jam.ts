import type { Duplex } from 'node:stream';

/** A connection of node:net, seen as far as this needs it; the handle is what Node's own socket timeout looks at. */
interface Connection extends Duplex {
  readonly bytesWritten?: number;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

export interface Jam {
  /** For how many milliseconds something has waited to be taken, with not a byte of it taken meanwhile; 0: no jam. */
  readonly lastsMs: number;
  /** Whether there was a jam when last asked, and something was taken since. */
  readonly moved: boolean;
}

/**
 * Watches whether what is written to a connection gets away. While the system takes no more from us, room comes only
 * from what the client takes from it. To be asked in intervals.
 */
export function watchJam({ connection, now }: { connection: Duplex; now: () => number }): () => Jam {
  const { bytesWritten = 0, writableLength, _handle }: Connection = connection;
  // Bytes whose writing is complete, and those of the write under way that the system has not taken yet.
  let complete = bytesWritten - writableLength;
  let pending = _handle?.writeQueueSize ?? 0;
  let isJammed = writableLength > 0;
  let since = now();
  return () => {
    const { bytesWritten = 0, writableLength, _handle }: Connection = connection;
    const completeNow = bytesWritten - writableLength;
    const pendingNow = _handle?.writeQueueSize ?? 0;
    const moved = isJammed && (completeNow > complete || pendingNow < pending);
    complete = completeNow;
    pending = pendingNow;
    if (moved || !isJammed) {
      since = now();
    }
    isJammed = writableLength > 0;
    return { lastsMs: isJammed ? now() - since : 0, moved };
  };
}
