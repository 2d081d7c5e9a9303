import { type AppOverrides, createApp } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { recordingLog } from './log.js';
import { type ScriptedProvider, startProvider } from './provider.js';
import { scriptedEnv } from './scripted-env.js';

export interface TestApp {
  /** Without a path: the endpoint is `${url}/graphql`. */
  readonly url: string;
  readonly provider: ScriptedProvider;
  readonly database: TestDatabase;
  /** Lines that the server has logged. */
  readonly logLines: readonly string[];
  waitForLog(text: string): Promise<void>;
  /** Empties `logLines`, so that `waitForLog` waits for what is still to come. */
  forgetLog(): void;
  /** Stops the server only and starts another one on the same database and provider. */
  restart(): Promise<{ readonly url: string }>;
  close(): Promise<void>;
}

/** A whole server inside this process, over real sockets, with a database and a scripted provider of its own. */
export async function startTestApp(
  env: Readonly<Record<string, string>> = {},
  overrides: AppOverrides = {},
): Promise<TestApp> {
  const provider = await startProvider();
  const database = await createTestDatabase();
  const { log, lines, waitFor, forget } = recordingLog();
  const config = loadConfig({ ...scriptedEnv(provider, database), ...env });
  let app = createApp(config, log, overrides);
  const { url } = await app.start();
  return {
    url,
    provider,
    database,
    logLines: lines,
    waitForLog: waitFor,
    forgetLog: forget,
    async restart() {
      await app.stop();
      app = createApp(config, log, overrides);
      return app.start();
    },
    async close() {
      await app.stop();
      await provider.close();
      await database.drop();
    },
  };
}
