import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { findFreePort } from './free-port.js';
import {
  type Postmaster,
  type PostmasterOptions,
  PostmasterStartError,
  startPostmaster,
  stopPostmaster,
} from './postmaster.js';

type ServerOptions = Omit<PostmasterOptions, 'port'>;

export interface RunningServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Somebody else took the port first, or the children of a killed server have not noticed its end yet. */
const passingFailure = /Address already in use|could not bind|shared memory block .* is still in use/;
const firstStartMs = 30_000;
const retryMs = 200;
/** Waits before the attempts to start again what has ended by itself. */
const restartDelaysMs = [0, 500, 1_000, 2_000, 5_000];

/**
 * Starts the server on a free port and keeps it there until `stop`: when it dies, it is started again on the same port,
 * so the URL stays good.
 */
export async function keepRunning(options: ServerOptions): Promise<RunningServer> {
  const { log } = options;
  const { port, postmaster } = await startOnFreePort(options);
  const stopping = new AbortController();
  let current = postmaster;

  const restart = async (): Promise<Postmaster | undefined> => {
    for (const delayMs of restartDelaysMs) {
      try {
        await delay(delayMs, undefined, { signal: stopping.signal });
        return await startPostmaster({ ...options, port });
      } catch (error) {
        if (stopping.signal.aborted) return undefined;
        log.error({ reason: reasonOf(error) }, 'Postgres could not be started again');
      }
    }
    log.fatal('Postgres ended and cannot be started again: restart this server');
    return undefined;
  };
  const watch = async () => {
    for (;;) {
      await current.exited;
      if (stopping.signal.aborted) return;
      log.error('Postgres ended unexpectedly and is started again');
      const next = await restart();
      if (next === undefined) return;
      current = next;
      if (stopping.signal.aborted) await stopPostmaster(current);
    }
  };
  const watching = watch();
  return {
    port,
    async stop() {
      stopping.abort();
      await stopPostmaster(current);
      await watching;
    },
  };
}

async function startOnFreePort(options: ServerOptions): Promise<{ port: number; postmaster: Postmaster }> {
  const deadline = performance.now() + firstStartMs;
  for (;;) {
    const port = await findFreePort();
    try {
      return { port, postmaster: await startPostmaster({ ...options, port }) };
    } catch (error) {
      const output = error instanceof PostmasterStartError ? error.output.join('\n') : '';
      if (!passingFailure.test(output) || performance.now() > deadline) {
        throw new EmbeddedPostgresError(`The embedded Postgres could not start: ${reasonOf(error)}`, { cause: error });
      }
      await delay(retryMs);
    }
  }
}

/** What Postgres gave as the reason, without the lines around it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof PostmasterStartError)) return String(error);
  const fatal = error.output.findLast((line) => /\b(FATAL|PANIC):/.test(line)) ?? error.output.at(-1);
  return fatal?.replace(/^.*\b(FATAL|PANIC):\s*/, '') ?? error.message;
}
