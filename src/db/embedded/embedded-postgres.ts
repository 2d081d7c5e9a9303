import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { findServerAccount } from './account.js';
import { findPostgresBinaries } from './binaries.js';
import { openCluster } from './cluster.js';
import { findFreePort } from './free-port.js';
import { startPostmaster } from './postmaster.js';

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
  /** A postgres:// URL, password included. */
  readonly url: string;
  /** Ends all connections and the server. Everything that was committed is on the disk. */
  stop(): Promise<void>;
}

export async function startEmbeddedPostgres({
  dataDir,
  log,
  durable = true,
  maxConnections = 100,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(dataDir, { recursive: true });
  const root = await realpath(dataDir);
  const [binaries, account, port] = await Promise.all([findPostgresBinaries(), findServerAccount(), findFreePort()]);
  if (account.uid !== undefined) await letThrough(root);
  const cluster = await openCluster({ root, binaries, account, durable });
  const postmaster = await startPostmaster({
    postgres: binaries.postgres,
    account,
    dataFolder: cluster.folder,
    port,
    log,
    settings: {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: maxConnections,
      timezone: 'UTC',
      log_timezone: 'UTC',
      lc_messages: 'C',
      // Values of rows and statements are people's words and never belong into a log.
      log_error_verbosity: 'terse',
      log_min_error_statement: 'panic',
      ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    },
  });
  return {
    url: `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`,
    async stop() {
      postmaster.process.kill('SIGINT');
      await postmaster.exited;
    },
  };
}

/** The account of Postgres is another one than ours and has to get to its own folder. What else is here stays closed. */
async function letThrough(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o011) !== 0o011) await chmod(folder, mode | 0o011);
}
