import { type AppOverrides, createApp } from './app.js';
import { ConfigError, loadConfig } from './config.js';
import { EmbeddedPostgresError } from './db/embedded/embedded-postgres-error.js';
import { MigrationError } from './db/migration-error.js';
import { mcpSecrets } from './mcp-config.js';
import { createLog } from './observability/log.js';
import { ListenError } from './transport/listen-error.js';

/** How long an orderly end may take beyond the grace for running turns. */
const closingMs = 10_000;

/** Ctrl-C under npm comes twice at once: from the terminal, and passed on by npm. */
const echoMs = 250;

/** Ends this process by a signal as if it had never listened to it: Node's own exit waits for its threads. */
function dieBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  // Behind the handlers that end children. The first process of a container is not killed by a signal that it does not
  // listen to, and exits.
  process.on('exit', () => process.kill(process.pid, signal));
  process.exit(130);
}

function readConfig(env: NodeJS.ProcessEnv) {
  try {
    return loadConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** Faults whose message says all that an operator needs: a stack would only hide it. */
const isForOperator = (error: unknown): error is Error =>
  error instanceof EmbeddedPostgresError || error instanceof MigrationError || error instanceof ListenError;

/**
 * The server as this process: settings of `env`, signals, exit codes. Resolves once it is ready, or once it is clear that
 * it cannot start and why has been said.
 */
export async function serve(env: NodeJS.ProcessEnv, overrides: AppOverrides = {}): Promise<void> {
  const config = readConfig(env);
  const secrets = [
    config.model.provider?.apiKey,
    config.auth?.jwtSecret,
    config.database.url,
    config.redis?.url,
    ...mcpSecrets(config.mcpServers),
  ];
  const log = createLog(
    config.logLevel,
    undefined,
    secrets.filter((secret) => secret != null),
  );
  const app = createApp(config, log, overrides);

  let endingSince: number | null = null;
  async function end(reason: string, exitCode: number): Promise<void> {
    endingSince = performance.now();
    const longestMs = config.server.shutdownGraceMs + closingMs;
    log.info({ reason }, `stopping within ${longestMs / 1_000} s at most: a second signal ends the server at once`);
    setTimeout(() => {
      log.error('stopping took too long, some parts were left open');
      process.exit(1);
    }, longestMs).unref();
    await app.stop();
    log.info('stopped');
    process.exit(exitCode);
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (endingSince === null) void end(signal, 0);
      else if (signal === 'SIGTERM' || performance.now() - endingSince > echoMs) dieBy(signal);
    });
  }
  const endAfterFault = (reason: string) => {
    if (endingSince !== null) process.exit(1);
    void end(reason, 1);
  };
  // The state after a fault that nobody caught is unknown: what runs is brought to an orderly end, then the process ends.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    endAfterFault('uncaught exception');
  });
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection');
    endAfterFault('unhandled rejection');
  });

  try {
    const { url } = await app.start();
    const model = config.model.provider === null ? 'the demo model' : 'the configured provider';
    log.info({ url }, `ready: GraphiQL and the endpoint are at ${url}/graphql, answers come from ${model}`);
  } catch (error) {
    if (isForOperator(error)) {
      process.stderr.write(`The server cannot start: ${error.message}\n`);
    } else {
      log.fatal({ err: error }, `could not start: ${error instanceof Error ? error.message : 'unknown fault'}`);
    }
    process.exitCode = 1;
  }
}
