import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import type { Logger } from 'pino';
import { describeDatabaseError } from './database-errors.js';
import { PrismaClient } from './generated/prisma/client.js';

export interface Database {
  /** For hand-written SQL. */
  readonly pool: Pool;
  /** Runs on the same connections as `pool`. */
  readonly prisma: PrismaClient;
  /** Waits for statements that run, then closes every connection. Further calls do nothing. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Most connections to Postgres of this process. */
  readonly poolSize: number;
  readonly log: Logger;
  /** How long a statement may wait for a free or new connection before it fails. Default 5 s. */
  readonly connectTimeoutMs?: number;
}

const statementTimeoutMs = 15_000;

/** Opens the pool. The first connection is made by the first statement; see migrate() for waiting and the schema. */
export async function openDatabase({
  url,
  poolSize,
  log,
  connectTimeoutMs = 5_000,
}: DatabaseOptions): Promise<Database> {
  const pool = new Pool({
    connectionString: url,
    application_name: 'chatsession',
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: statementTimeoutMs,
    // For a connection whose other end is gone without a word, where no answer of the server can come.
    query_timeout: statementTimeoutMs + 5_000,
    idle_in_transaction_session_timeout: statementTimeoutMs,
  });
  // An error event without a listener ends the process. The pool listens only while a connection is idle, so every
  // connection gets a listener for its whole life; the pool's own event then repeats what was logged already.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn(describeDatabaseError(error), 'A database connection broke'));
  });
  pool.on('error', () => {});

  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool),
    errorFormat: 'minimal',
    // Longer than a connection may take, so that the reason of the failure is the pool's.
    transactionOptions: { maxWait: connectTimeoutMs + 1_000, timeout: 5_000 },
  });

  let closing: Promise<void> | undefined;
  const close = async () => {
    // Prisma only stops listening to a pool that it was given; ending it is up to us.
    await prisma.$disconnect();
    await pool.end();
  };
  return {
    pool,
    prisma,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
