import type { Logger } from 'pino';
import type { Mcp, McpDependencies } from './agent/mcp/mcp.js';
import { builtInTools } from './agent/tools/built-in/built-in-tools.js';
import { orderPizza } from './agent/tools/built-in/order-pizza.js';
import { createToolRegistry } from './agent/tools/registry.js';
import type { Tool } from './agent/tools/tool.js';
import { createAuthenticator } from './auth/authenticate.js';
import { createChat } from './chat/chat.js';
import { reservedNames } from './chat/sessions/read-tools.js';
import type { Config } from './config.js';
import { type Database, openDatabase } from './db/database.js';
import { isDatabaseUnavailable } from './db/database-errors.js';
import { startEmbeddedPostgres } from './db/embedded/embedded-postgres.js';
import { migrate } from './db/migrate.js';
import { databaseIdentity } from './db/queries/database-identity.js';
import type { TurnFeed } from './events/feed.js';
import { openRedisFeed } from './events/redis/open-feed.js';
import { type Failpoint, noFailpoint } from './failpoints.js';
import { createLoaders } from './graphql/context.js';
import { buildSchema } from './graphql/schema.js';
import { newId } from './ids.js';
import { createModelCatalog } from './model/catalog.js';
import { startDemoModel } from './model/demo/server.js';
import { createOpenAiModel } from './model/openai.js';
import { countTokens } from './model/tokens.js';
import type { TransportLimits, TransportTiming } from './transport/options.js';
import { createTransport } from './transport/server.js';

/** The whole server. */
export interface App {
  /** Resolves once requests are answered. `url` has no path: the endpoint is `${url}/graphql`. */
  start(): Promise<{ readonly url: string; readonly port: number }>;
  /** Orderly end: running turns may finish within the grace of the settings, everything is stored and closed. */
  stop(): Promise<void>;
}

/** What a test may hold in its own hands. */
export interface AppOverrides {
  readonly newId?: () => string;
  readonly now?: () => Date;
  readonly random?: () => number;
  readonly limits?: Partial<TransportLimits>;
  readonly timing?: Partial<TransportTiming>;
  /** Tokens a second of the demo model; 0 is as fast as it can. */
  readonly demoPace?: number;
  readonly failpoint?: Failpoint;
  /** Besides the built-in ones. */
  readonly tools?: readonly Tool[];
}

type Cleanup = () => Promise<void>;

async function openStorage(config: Config['database'], log: Logger, cleanups: Cleanup[]) {
  let { url } = config;
  if (url === null) {
    // Besides the pool there are the migration's connection and those of whoever looks in with psql.
    const maxConnections = Math.max(100, config.poolSize + 20);
    const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, log, maxConnections });
    cleanups.push(() => embedded.stop());
    url = embedded.url;
  }
  await migrate(url, log);
  const database = await openDatabase({ url, poolSize: config.poolSize, log });
  cleanups.push(() => database.close());
  return database;
}

async function openFeed(
  { redis, database: { url } }: Config,
  database: Database,
  parts: { readonly processId: string; readonly log: Logger; readonly cleanups: Cleanup[] },
): Promise<TurnFeed | null> {
  const { processId, log, cleanups } = parts;
  if (redis === null) return null;
  if (url === null) {
    log.warn('REDIS_URL has no effect without DATABASE_URL: the embedded Postgres serves this process only');
    return null;
  }
  const feed = openRedisFeed({ url: redis.url, namespace: await databaseIdentity(database.pool), processId, log });
  cleanups.push(() => feed.close());
  return feed;
}

async function openModel(config: Config['model'], log: Logger, cleanups: Cleanup[], pace: number | undefined) {
  let provider = config.provider;
  if (provider === null) {
    const demo = await startDemoModel({ log, ...(pace !== undefined && { pace }) });
    cleanups.push(() => demo.close());
    provider = { apiKey: null, baseUrl: demo.url };
  }
  return createOpenAiModel({ ...config, ...provider, log });
}

/** How long the start waits for MCP servers: a turn that is taken up at once wants their tools, but none may hold it up. */
const mcpPatienceMs = 3_000;

/** Begins to connect. The libraries of MCP are loaded only where they are wanted. */
async function openMcp(
  configs: Config['mcpServers'],
  dependencies: McpDependencies,
  cleanups: Cleanup[],
): Promise<Mcp | null> {
  if (configs.length === 0) return null;
  const { startMcp } = await import('./agent/mcp/mcp.js');
  const mcp = startMcp(configs, dependencies);
  cleanups.push(() => mcp.stop());
  return mcp;
}

/** Puts the parts together. Nothing runs before `start`. */
export function createApp(config: Config, log: Logger, overrides: AppOverrides = {}): App {
  const makeId = overrides.newId ?? newId;
  const now = overrides.now ?? (() => new Date());
  const cleanups: Cleanup[] = [];
  let stopping: Promise<void> | null = null;

  async function cleanUp(): Promise<void> {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup().catch((error) => log.error({ err: error }, 'a part could not be closed'));
    }
  }

  async function open() {
    const catalog = createModelCatalog(config.model);
    for (const warning of catalog.warnings) log.warn(warning);
    const { summaryModel } = config.chat;
    if (summaryModel !== null && catalog.find(summaryModel) === null) {
      log.warn(
        { summaryModel },
        'SUMMARY_MODEL is in no table: each session is summarised by its own model. Name it in MODELS.',
      );
    }
    const random = overrides.random ?? Math.random;
    const opening = openStorage(config.database, log, cleanups);
    // Loading the tokeniser stops everything for some tenths of a second: better now than in the first turn that counts.
    countTokens('load');
    const database = await opening;
    const demoTools = config.model.provider === null ? [orderPizza] : [];
    const tools = [...builtInTools({ now, db: database.pool }), ...demoTools, ...(overrides.tools ?? [])];
    const reserved = new Set([...reservedNames, ...tools.map(({ name }) => name)]);
    const mcp = await openMcp(config.mcpServers, { log, random, reserved }, cleanups);
    const model = await openModel(config.model, log, cleanups, overrides.demoPace);
    const processId = makeId();
    const feed = await openFeed(config, database, { processId, log, cleanups });
    const chat = createChat({
      database,
      model,
      catalog,
      tools: createToolRegistry(tools, mcp ? [mcp] : []),
      feed,
      log,
      settings: { ...config.chat, maxRetries: config.model.maxRetries },
      processId,
      exclusive: config.database.url === null,
      newId: makeId,
      now,
      random,
      failpoint: overrides.failpoint ?? noFailpoint,
    });
    await mcp?.tried(mcpPatienceMs);
    await chat.start();
    const transport = createTransport({
      config: config.server,
      schema: buildSchema(),
      authenticate: createAuthenticator(config.auth),
      authRequired: config.auth !== null,
      createContext: (start) => ({ ...start, chat: chat.service, database, catalog, loaders: createLoaders() }),
      readiness: async () => (await database.pool.query('SELECT 1')).rowCount === 1,
      isUnavailable: isDatabaseUnavailable,
      log,
      newId: makeId,
      now: () => now().getTime(),
      ...(overrides.limits && { limits: overrides.limits }),
      ...(overrides.timing && { timing: overrides.timing }),
    });
    // Turns end first, while their followers are still there to be told.
    cleanups.push(async () => {
      transport.drain();
      await chat.close(config.server.shutdownGraceMs);
      await transport.close(1_000);
    });
    return transport.listen();
  }

  return {
    async start() {
      try {
        return await open();
      } catch (error) {
        await cleanUp();
        throw error;
      }
    },
    stop() {
      stopping ??= cleanUp();
      return stopping;
    },
  };
}
