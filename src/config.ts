import { z } from 'zod';
import { type ModelEntry, settings } from './settings.js';

/** Loopback only: what a server without authentication may listen on. */
const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost']);

const environment = z.object(settings).superRefine((values, context) => {
  const complain = (path: keyof typeof settings, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message });
  const authenticated = values.AUTH_JWT_SECRET !== undefined || values.AUTH_JWKS_URL !== undefined;
  if (values.AUTH_JWT_SECRET !== undefined && values.AUTH_JWKS_URL !== undefined) {
    complain('AUTH_JWKS_URL', 'cannot be combined with AUTH_JWT_SECRET: keep one of them');
  }
  if (!authenticated && !loopbackHosts.has(values.HOST)) {
    complain(
      'HOST',
      'is open to the network but nothing authenticates callers: set AUTH_JWT_SECRET or AUTH_JWKS_URL, or use 127.0.0.1',
    );
  }
  if (!authenticated && (values.AUTH_ISSUER !== undefined || values.AUTH_AUDIENCE !== undefined)) {
    complain('AUTH_ISSUER', 'has no effect without AUTH_JWT_SECRET or AUTH_JWKS_URL: set one of them');
  }
  if (values.MODEL_TOTAL_TIMEOUT_MS < values.MODEL_IDLE_TIMEOUT_MS) {
    complain('MODEL_TOTAL_TIMEOUT_MS', 'must not be shorter than MODEL_IDLE_TIMEOUT_MS');
  }
});

export interface Config {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly maxRequestBytes: number;
    readonly corsOrigins: readonly string[];
    readonly graphiql: boolean;
    readonly shutdownGraceMs: number;
  };
  readonly database: { readonly url: string | null; readonly dataDir: string; readonly poolSize: number };
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
    readonly maxMessageBytes: number;
  };
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
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`));
  }
  const values = parsed.data;
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
    },
    database: { url: values.DATABASE_URL ?? null, dataDir: values.DATA_DIR, poolSize: values.DATABASE_POOL_SIZE },
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
      maxMessageBytes: values.MAX_MESSAGE_BYTES,
    },
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
