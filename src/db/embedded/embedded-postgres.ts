import { join } from 'node:path';
import type { Logger } from 'pino';
import { findServerAccount, giveAccess } from './account.js';
import { findPostgresBinaries } from './binaries.js';
import { openCluster } from './cluster.js';
import { openDataFolder } from './data-folder.js';
import { stopOrphan } from './orphan.js';
import { serverSettings } from './server-settings.js';
import { keepRunning } from './supervisor.js';

export interface EmbeddedPostgresOptions {
  /** Where the data lives; made when it is missing. One server at a time may use it. */
  readonly dataDir: string;
  readonly log: Logger;
  /** False gives up safety for speed, for data that nobody needs after the process. Default true. */
  readonly durable?: boolean;
  /** Default 100. */
  readonly maxConnections?: number;
}

export interface EmbeddedPostgres {
  /** A postgres:// URL, password included. It stays the same until `stop`. */
  readonly url: string;
  /** Ends all connections and the server, and frees the folder. Further calls do nothing. */
  stop(): Promise<void>;
}

/**
 * Starts the Postgres that comes with this package on a folder of its own, for use without any other database. What was
 * committed survives a restart, and a kill of this process or of Postgres at any moment.
 *
 * @throws EmbeddedPostgresError with a sentence for the operator.
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
  durable = true,
  maxConnections = 100,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const folder = await openDataFolder(dataDir);
  try {
    const home = join(folder.path, 'postgres');
    const [binaries, ownAccount] = await Promise.all([findPostgresBinaries(), findServerAccount(home)]);
    const account = await giveAccess(ownAccount, [`${folder.path}/.`, binaries.postgres]);
    const cluster = await openCluster({ home, binaries, account, durable });
    await stopOrphan(cluster.folder, log);
    const { port, stop } = await keepRunning({
      postgres: binaries.postgres,
      account,
      dataFolder: cluster.folder,
      settings: serverSettings(durable, maxConnections),
      log,
    });
    let stopping: Promise<void> | undefined;
    return {
      url: `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`,
      stop() {
        stopping ??= stop().finally(() => folder.lock.release());
        return stopping;
      },
    };
  } catch (error) {
    await folder.lock.release();
    throw error;
  }
}
