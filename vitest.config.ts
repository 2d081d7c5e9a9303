import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

// Vite would take the .mjs of graphql for our files while Node takes the .js for the libraries, and graphql refuses to
// work with objects of another copy of itself. Everybody gets the .js.
const graphql = createRequire(import.meta.url).resolve('graphql');

/** Counts objects in memory, so nothing of other tests may be there. */
const countsObjects = 'test/regression/left-subscriptions-stay.test.ts';

const database = { globalSetup: ['test/support/global-setup.ts'] };

export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: graphql }] },
  test: {
    // Two cores serve the tests, the servers they start and Postgres.
    maxWorkers: 2,
    // The server keeps nothing in its modules, so test files may share them: loading them anew for each file took a third
    // of the time. What measures memory and timers has modules of its own.
    isolate: false,
    // Generous, since a busy machine is no fault: what has to be quick says so in its test.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 5_000 } },
      { extends: true, test: { name: 'integration', include: ['test/integration/**/*.test.ts'], ...database } },
      {
        extends: true,
        test: { name: 'regression', include: ['test/regression/**/*.test.ts'], exclude: [countsObjects], ...database },
      },
      {
        extends: true,
        test: {
          name: 'leaks',
          include: ['test/leaks/**/*.test.ts', countsObjects],
          isolate: true,
          testTimeout: 60_000,
          ...database,
        },
      },
      {
        extends: true,
        test: { name: 'chaos', include: ['test/chaos/**/*.test.ts'], testTimeout: 120_000, ...database },
      },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 60_000, ...database } },
    ],
  },
});
