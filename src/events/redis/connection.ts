import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { within } from './deadline.js';

const firstPauseMs = 50;
const longestPauseMs = 2_000;

export type Client = ReturnType<typeof newClient>;

/**
 * Works on a connection until something fails. `signal` aborts when the connection is given up; `works` is to be called
 * whenever Redis has done what it was asked.
 */
export type Use = (client: Client, signal: AbortSignal, works: () => void) => Promise<void>;

export interface KeptConnection {
  readonly url: string;
  /** What operators see in CLIENT LIST; no blanks. */
  readonly name: string;
  readonly use: Use;
  readonly onWorking: () => void;
  readonly onLost: (error: unknown) => void;
  readonly connectMs: number;
  /** From 0 up to 1, so that processes which lost Redis together do not come back together. */
  readonly random: () => number;
}

// The client's own reconnecting and time limits are off: it cannot be told to replace a connection that is open and
// silent, and its limit for commands ends once they are written.
function newClient({ url, name, connectMs }: Pick<KeptConnection, 'url' | 'name' | 'connectMs'>) {
  return createClient({
    url,
    name,
    commandOptions: { timeout: 0 },
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout: connectMs, reconnectStrategy: false },
  });
}

/** Keeps a connection in use, a new one for each that fails, until the returned function is called. */
export function keepConnected(connection: KeptConnection): () => void {
  const { connectMs, use, onWorking, onLost, random } = connection;
  const closing = new AbortController();
  let failures = 0;

  async function useOne(): Promise<void> {
    const client = newClient(connection);
    const ending = new AbortController();
    const broken = new Promise<never>((_, reject) => {
      client.on('error', reject);
      closing.signal.addEventListener('abort', reject, { signal: ending.signal });
    });
    const connecting = client.connect();
    const working = within(connectMs, connecting).then(() =>
      use(client, ending.signal, () => {
        failures = 0;
        onWorking();
      }),
    );
    try {
      await Promise.race([working, broken]);
    } finally {
      ending.abort();
      client.destroy();
      // One that is still connecting cannot be destroyed before it has connected.
      connecting.then(
        () => client.destroy(),
        () => undefined,
      );
    }
  }

  async function keep(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await useOne();
      } catch (error) {
        if (closing.signal.aborted) return;
        onLost(error);
      }
      const pauseMs = Math.min(firstPauseMs * 2 ** failures, longestPauseMs);
      failures = Math.min(failures + 1, 10);
      await sleep(pauseMs * (0.5 + random() / 2), undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  void keep();
  return () => closing.abort();
}
