import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { type McpServerConfig, readMcpConfig } from './mcp-config.js';
import { type ModelEntry, settings } from './settings.js';

/** Loopback only: what a server without authentication may listen on. */
const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost']);

type Name = keyof typeof settings;
type Values = { readonly [K in Name]: z.infer<(typeof settings)[K]> };

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function* imageDirProblems(path: string): Generator<string> {
  if (!isFolder(path)) yield 'IMAGE_DIR must be a folder that exists';
  // Without it a file cannot be opened from its folder, and so not safely.
  if (!existsSync('/proc/self/fd')) yield 'IMAGE_DIR needs /proc, which only Linux has: leave it unset';
}

/** What one variable alone cannot show. `values` holds those that are valid by themselves. */
function* conflicts(values: Partial<Values>, given: (name: Name) => boolean): Generator<string> {
  const authenticated = given('AUTH_JWT_SECRET') || given('AUTH_JWKS_URL');
  if (given('AUTH_JWT_SECRET') && given('AUTH_JWKS_URL')) {
    yield 'AUTH_JWKS_URL cannot be combined with AUTH_JWT_SECRET: keep one of them';
  }
  if (!authenticated && values.HOST !== undefined && !loopbackHosts.has(values.HOST)) {
    yield 'HOST is open to the network but nothing authenticates callers: set AUTH_JWT_SECRET or AUTH_JWKS_URL, or use 127.0.0.1';
  }
  if (!authenticated && (given('AUTH_ISSUER') || given('AUTH_AUDIENCE'))) {
    yield 'AUTH_ISSUER and AUTH_AUDIENCE have no effect without AUTH_JWT_SECRET or AUTH_JWKS_URL: set one of them';
  }
  if (values.IMAGE_DIR !== undefined) yield* imageDirProblems(values.IMAGE_DIR);
}

/** Every variable by itself first, so that one broken setting does not hide another. */
function readValues(env: Readonly<Record<string, string | undefined>>): Values & Pick<Config, 'mcpServers'> {
  const given = (name: Name) => (env[name] ?? '').trim() !== '';
  const values: Partial<Record<Name, unknown>> = {};
  const problems: string[] = [];
  for (const name of Object.keys(settings) as Name[]) {
    const parsed = settings[name].safeParse(given(name) ? env[name] : undefined);
    if (parsed.success) values[name] = parsed.data;
    else
      problems.push(...parsed.error.issues.map((issue) => [[name, ...issue.path].join('.'), issue.message].join(' ')));
  }
  problems.push(...conflicts(values as Partial<Values>, given));
  const mcp = given('MCP_CONFIG') ? readMcpConfig(env.MCP_CONFIG ?? '') : { servers: [], problems: [] };
  problems.push(...mcp.problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...(values as Values), mcpServers: mcp.servers };
}

export interface Config {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly maxRequestBytes: number;
    readonly corsOrigins: readonly string[];
    readonly graphiql: boolean;
    readonly shutdownGraceMs: number;
    readonly stalledReaderMs: number;
  };
  readonly database: { readonly url: string | null; readonly dataDir: string; readonly poolSize: number };
  /** Null: processes hear of each other through the database alone. */
  readonly redis: { readonly url: string } | null;
  readonly model: {
    /** Null: no provider is configured and the demo model answers. */
    readonly provider: { readonly apiKey: string | null; readonly baseUrl: string | null } | null;
    readonly defaultModel: string | null;
    readonly models: Readonly<Record<string, ModelEntry>>;
    readonly idleTimeoutMs: number;
    readonly totalTimeoutMs: number;
    readonly maxRetries: number;
  };
  readonly chat: {
    readonly budgetMaxCostUsd: number;
    readonly budgetMaxTokens: number;
    readonly leaseMs: number;
    readonly inputTimeoutMs: number;
    readonly maxMessageBytes: number;
    readonly maxQueuedTurns: number;
    /** Null: a session's own model. */
    readonly summaryModel: string | null;
    readonly summaryTimeoutMs: number;
    /** Absolute. Null: no file is read. */
    readonly imageDir: string | null;
  };
  readonly mcpServers: readonly McpServerConfig[];
  /** Null: no authentication, one local user. */
  readonly auth: {
    readonly jwtSecret: string | null;
    readonly jwksUrl: string | null;
    readonly issuer: string | null;
    readonly audience: string | null;
  } | null;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

/** Every problem of the settings at once, so that an operator mends them in one go. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly problems: readonly string[]) {
    super(['The settings are not valid:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
  }
}

/**
 * Reads the settings. An empty variable counts as unset.
 *
 * @throws ConfigError naming every problem; values are never repeated in it, since some are secrets.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const values = readValues(env);
  const hasProvider = values.OPENAI_API_KEY !== undefined || values.OPENAI_BASE_URL !== undefined;
  const hasAuth = values.AUTH_JWT_SECRET !== undefined || values.AUTH_JWKS_URL !== undefined;
  return {
    server: {
      host: values.HOST,
      port: values.PORT,
      maxRequestBytes: values.MAX_REQUEST_BYTES,
      corsOrigins: values.CORS_ORIGINS,
      graphiql: values.GRAPHIQL === 'on',
      shutdownGraceMs: values.SHUTDOWN_GRACE_MS,
      stalledReaderMs: values.STALLED_READER_MS,
    },
    database: { url: values.DATABASE_URL ?? null, dataDir: values.DATA_DIR, poolSize: values.DATABASE_POOL_SIZE },
    redis: values.REDIS_URL === undefined ? null : { url: values.REDIS_URL },
    model: {
      provider: hasProvider ? { apiKey: values.OPENAI_API_KEY ?? null, baseUrl: values.OPENAI_BASE_URL ?? null } : null,
      defaultModel: values.MODEL ?? null,
      models: values.MODELS,
      idleTimeoutMs: values.MODEL_IDLE_TIMEOUT_MS,
      totalTimeoutMs: values.MODEL_TOTAL_TIMEOUT_MS,
      maxRetries: values.MODEL_MAX_RETRIES,
    },
    chat: {
      budgetMaxCostUsd: values.BUDGET_MAX_COST_USD,
      budgetMaxTokens: values.BUDGET_MAX_TOKENS,
      leaseMs: values.TURN_LEASE_MS,
      inputTimeoutMs: values.INPUT_TIMEOUT_MS,
      maxMessageBytes: values.MAX_MESSAGE_BYTES,
      maxQueuedTurns: values.MAX_QUEUED_TURNS,
      summaryModel: values.SUMMARY_MODEL ?? null,
      summaryTimeoutMs: values.SUMMARY_TIMEOUT_MS,
      imageDir: values.IMAGE_DIR === undefined ? null : resolve(values.IMAGE_DIR),
    },
    mcpServers: values.mcpServers,
    auth: hasAuth
      ? {
          jwtSecret: values.AUTH_JWT_SECRET ?? null,
          jwksUrl: values.AUTH_JWKS_URL ?? null,
          issuer: values.AUTH_ISSUER ?? null,
          audience: values.AUTH_AUDIENCE ?? null,
        }
      : null,
    logLevel: values.LOG_LEVEL,
  };
}
