import type { TestProject } from 'vitest/node';
import { startTestServer } from './database-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests create their databases; see database.ts. */
    databaseServer: { url: string; template: string };
  }
}

/** One Postgres for the whole run: the first project that needs it starts it, for all of them. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const root = project.vitest.getRootProject();
  if (root.getProvidedContext().databaseServer !== undefined) return undefined;
  const server = await startTestServer(process.env.DATABASE_URL || undefined);
  root.provide('databaseServer', { url: server.url, template: server.template });
  return () => server.stop();
}
