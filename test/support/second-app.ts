import { type AppOverrides, createApp } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import type { TestApp } from './app.js';
import { silentLog } from './log.js';
import { scriptedEnv } from './scripted-env.js';

export interface SecondApp {
  readonly url: string;
  close(): Promise<void>;
}

/** Another server on the database and the provider of the first one, as a second replica is. */
export async function startSecondApp(
  { provider, database }: Pick<TestApp, 'provider' | 'database'>,
  env: Readonly<Record<string, string>> = {},
  overrides: AppOverrides = {},
): Promise<SecondApp> {
  const app = createApp(loadConfig({ ...scriptedEnv(provider, database), ...env }), silentLog, overrides);
  const { url } = await app.start();
  return { url, close: () => app.stop() };
}
