import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ConfigError, loadConfig } from '../config.js';
import { type Database, openDatabase } from '../db/database.js';
import { startEmbeddedPostgres } from '../db/embedded/embedded-postgres.js';
import { EmbeddedPostgresError } from '../db/embedded/embedded-postgres-error.js';
import { findRunningServer } from '../db/embedded/running-server.js';
import { migrate } from '../db/migrate.js';
import { MigrationError } from '../db/migration-error.js';
import { createLog } from '../observability/log.js';
import { budgets } from './budgets.js';
import { ledger } from './ledger.js';
import { UsageError, usage } from './usage.js';

// What an operator does beside the server: limits of owners and tenants, and the ledger for the books.

const log = createLog('error', undefined, []);

/** Works on the database of the settings, and leaves it as it was found: running or not. */
async function withDatabase<Result>(
  mayBeNew: boolean,
  work: (pool: Database['pool']) => Promise<Result>,
): Promise<Result> {
  const { database: config } = loadConfig(process.env);
  const running = config.url ?? (await findRunningServer(config.dataDir));
  // Limits may be set before the first start. But a database made for reading would tell of a mistyped folder that nobody
  // has a limit.
  if (running === null && !mayBeNew && !existsSync(join(config.dataDir, 'postgres'))) {
    throw new EmbeddedPostgresError(
      `There is no database of a server in ${config.dataDir}: set DATA_DIR to its folder, or DATABASE_URL.`,
    );
  }
  const own = running === null ? await startEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  const url = running ?? own?.url ?? '';
  try {
    await migrate(url, log);
    const database = await openDatabase({ url, poolSize: 2, log });
    try {
      return await work(database.pool);
    } finally {
      await database.close();
    }
  } finally {
    await own?.stop();
  }
}

/** What is to be printed, made with a database. A mistake is told before one is opened. */
function read([command, ...args]: readonly string[]): (pool: Database['pool']) => AsyncIterable<string> {
  switch (command) {
    case 'budgets': {
      const work = budgets(args);
      return async function* (pool) {
        for (const line of await work(pool)) yield `${line}\n`;
      };
    }
    case 'ledger':
      return ledger(args);

    default:
      throw new UsageError(command === undefined ? 'Say what is to be done.' : `There is no command ${command}.`);
  }
}

/** Commands that were not understood. `parseArgs` has codes for its own. */
const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');

/** Faults whose message says all. */
const isForOperator = (error: unknown): error is Error =>
  error instanceof ConfigError || error instanceof EmbeddedPostgresError || error instanceof MigrationError;

try {
  const args = process.argv.slice(2);
  if (args[0] === '--help') process.stdout.write(`${usage}\n`);
  else {
    const output = read(args);
    const mayBeNew = args[0] === 'budgets' && args[1] === 'set';
    await withDatabase(mayBeNew, (pool) => pipeline(Readable.from(output(pool)), process.stdout, { end: false }));
  }
} catch (error) {
  process.exitCode = 1;
  if (isUsage(error)) process.stderr.write(`${error.message}\n\n${usage}\n`);
  // The reader of a pipe may leave when it has seen enough.
  else if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exitCode = 0;
  else if (isForOperator(error)) process.stderr.write(`${error.message}\n`);
  else throw error;
}
