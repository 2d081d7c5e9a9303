import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../../src/config.js';

type Env = Readonly<Record<string, string | undefined>>;

function problemsOf(env: Env): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const secret = 's'.repeat(32);

describe('without settings', () => {
  it('listens on loopback, embeds Postgres, answers with the demo model and asks nobody to sign in', () => {
    expect(loadConfig({})).toEqual({
      server: {
        host: '127.0.0.1',
        port: 4000,
        maxRequestBytes: 16_777_216,
        corsOrigins: [],
        graphiql: true,
        shutdownGraceMs: 10_000,
        stalledReaderMs: 60_000,
      },
      database: { url: null, dataDir: './.data', poolSize: 10 },
      redis: null,
      model: {
        provider: null,
        defaultModel: null,
        models: {},
        idleTimeoutMs: 60_000,
        totalTimeoutMs: 600_000,
        maxRetries: 2,
      },
      chat: {
        budgetMaxCostUsd: 10,
        budgetMaxTokens: 500_000,
        leaseMs: 15_000,
        inputTimeoutMs: 900_000,
        maxMessageBytes: 1_048_576,
        maxQueuedTurns: 10,
        summaryModel: null,
        summaryTimeoutMs: 30_000,
        imageDir: null,
      },
      mcpServers: [],
      auth: null,
      logLevel: 'info',
    });
  });

  it('ignores variables that are not its own', () => {
    expect(loadConfig({ HOME: '/root', NODE_ENV: 'production' })).toEqual(loadConfig({}));
  });
});

describe('an empty variable', () => {
  it.each(['', ' ', '\t'])('counts as unset: %j', (empty) => {
    const env = { DATABASE_URL: empty, OPENAI_API_KEY: empty, PORT: empty, MODELS: empty, AUTH_JWT_SECRET: empty };
    expect(loadConfig(env)).toEqual(loadConfig({}));
  });
});

describe('problems', () => {
  it('are all named at once, each with its variable', () => {
    const problems = problemsOf({
      PORT: '70000',
      DATABASE_URL: 'mysql://localhost/chat',
      MODELS: '{not json',
      TURN_LEASE_MS: '5',
      LOG_LEVEL: 'loud',
      CORS_ORIGINS: 'https://app.example.com/path',
      GRAPHIQL: 'maybe',
    });
    expect(problems.map((problem) => problem.split(/[ .]/, 1)[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'MODELS',
      'TURN_LEASE_MS',
      'CORS_ORIGINS',
      'GRAPHIQL',
      'LOG_LEVEL',
    ]);
  });

  it('make one message with a line each', () => {
    const env = { PORT: 'http', MODEL_MAX_RETRIES: '-1' };
    expect(() => loadConfig(env)).toThrow(/^The settings are not valid:\n {2}PORT .+\n {2}MODEL_MAX_RETRIES .+$/);
  });

  it('between variables are named beside those of single ones', () => {
    const problems = problemsOf({ PORT: 'http', HOST: '0.0.0.0', AUTH_ISSUER: 'https://id.example.com' });
    expect(problems.map((problem) => problem.split(' ', 1)[0])).toEqual(['PORT', 'HOST', 'AUTH_ISSUER']);
  });

  it.each([
    ['OPENAI_API_KEY', 'sk-geheim mit leerzeichen'],
    ['AUTH_JWT_SECRET', 'kurzesgeheimnis'],
    ['DATABASE_URL', 'mysql://user:geheimespasswort@db.example/chat'],
    ['REDIS_URL', 'http://user:geheimespasswort@redis.example'],
    ['REDIS_URL', 'redis://user:geheimespasswort@redis.example/geheim'],
    ['OPENAI_BASE_URL', 'ftp://user:geheimespasswort@llm.example'],
    ['AUTH_JWKS_URL', 'file:///geheim'],
    ['MODELS', '{"geheim'],
    ['PORT', 'geheim'],
  ])('never repeat the value of %s', (name, value) => {
    const text = problemsOf({ [name]: value }).join('\n');
    expect(text).toContain(name);
    expect(text).not.toContain('geheim');
    expect(text).not.toContain(value);
  });
});

describe('numbers', () => {
  it.each([
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['MODEL_IDLE_TIMEOUT_MS', '0'],
    ['MODEL_MAX_RETRIES', '11'],
    ['BUDGET_MAX_COST_USD', '-0.01'],
    ['BUDGET_MAX_TOKENS', '1.5'],
    ['BUDGET_MAX_TOKENS', 'Infinity'],
    ['TURN_LEASE_MS', '199'],
    ['TURN_LEASE_MS', 'NaN'],
    ['SHUTDOWN_GRACE_MS', '-1'],
    ['MAX_MESSAGE_BYTES', '0'],
  ])('out of bounds are refused: %s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  it('at their bounds are taken', () => {
    const config = loadConfig({ PORT: '0', BUDGET_MAX_COST_USD: '0', SHUTDOWN_GRACE_MS: '0', TURN_LEASE_MS: '200' });
    expect(config.server).toMatchObject({ port: 0, shutdownGraceMs: 0 });
    expect(config.chat).toMatchObject({ budgetMaxCostUsd: 0, leaseMs: 200 });
  });
});

describe('the address to listen on', () => {
  it.each(['127.0.0.1', '::1', 'localhost'])('may be %s without authentication', (host) => {
    expect(loadConfig({ HOST: host }).server.host).toBe(host);
  });

  it.each(['0.0.0.0', '::', '192.168.0.10', 'chat.example.com'])('may not be %s without authentication', (host) => {
    expect(problemsOf({ HOST: host })).toEqual([expect.stringMatching(/^HOST is open to the network/)]);
  });

  it('is no second problem when the key beside it is not valid', () => {
    const problems = problemsOf({ HOST: '0.0.0.0', AUTH_JWT_SECRET: 'too short' });
    expect(problems).toEqual([expect.stringMatching(/^AUTH_JWT_SECRET /)]);
  });

  it.each([{ AUTH_JWT_SECRET: secret }, { AUTH_JWKS_URL: 'https://id.example.com/keys' }])(
    'may be any with authentication',
    (auth) => {
      expect(loadConfig({ HOST: '0.0.0.0', ...auth }).server.host).toBe('0.0.0.0');
    },
  );
});

describe('authentication', () => {
  it('has one kind of key', () => {
    const env = { AUTH_JWT_SECRET: secret, AUTH_JWKS_URL: 'https://id.example.com/keys' };
    expect(problemsOf(env)).toEqual([expect.stringMatching(/^AUTH_JWKS_URL cannot be combined with AUTH_JWT_SECRET/)]);
  });

  it.each([{ AUTH_ISSUER: 'https://id.example.com' }, { AUTH_AUDIENCE: 'chat' }])(
    'is not taken for configured by a claim alone',
    (env) => {
      expect(problemsOf(env)).toEqual([expect.stringMatching(/ no effect without AUTH_JWT_SECRET/)]);
    },
  );

  it('keeps issuer and audience beside the key', () => {
    const env = { AUTH_JWT_SECRET: secret, AUTH_ISSUER: 'https://id.example.com', AUTH_AUDIENCE: 'chat' };
    expect(loadConfig(env).auth).toEqual({
      jwtSecret: secret,
      jwksUrl: null,
      issuer: 'https://id.example.com',
      audience: 'chat',
    });
  });
});

describe('the provider', () => {
  it.each([
    [{ OPENAI_API_KEY: 'sk-1' }, { apiKey: 'sk-1', baseUrl: null }],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' }, { apiKey: null, baseUrl: 'http://127.0.0.1:11434/v1' }],
  ])('is configured by key or address alone', (env, provider) => {
    expect(loadConfig(env).model.provider).toEqual(provider);
  });
});

describe('REDIS_URL', () => {
  it.each(['redis://127.0.0.1', 'redis://redis:6379/2', 'rediss://user:p%40ss@redis.example:6380/'])(
    'is taken as it is: %s',
    (url) => {
      expect(loadConfig({ REDIS_URL: url }).redis).toEqual({ url });
    },
  );
});

describe('CORS_ORIGINS', () => {
  it('is a list, blanks around its entries forgiven', () => {
    const env = { CORS_ORIGINS: ' https://a.example , http://localhost:3000,' };
    expect(loadConfig(env).server.corsOrigins).toEqual(['https://a.example', 'http://localhost:3000']);
  });

  it.each(['*', 'a.example', 'https://*.example', 'https://a.example/', 'https://a.example/app', 'null'])(
    'refuses what is no origin: %s',
    (origin) => {
      expect(problemsOf({ CORS_ORIGINS: origin })).toEqual([expect.stringMatching(/^CORS_ORIGINS\S* must be origins/)]);
    },
  );
});

// A56: wrong prices.
describe('IMAGE_DIR', () => {
  it('is a folder that exists, from the working directory on', () => {
    expect(loadConfig({ IMAGE_DIR: 'test' }).chat.imageDir).toBe(`${process.cwd()}/test`);
    for (const path of ['./no-such-folder', './package.json', './package.json/inside']) {
      expect(problemsOf({ IMAGE_DIR: path })).toEqual(['IMAGE_DIR must be a folder that exists']);
    }
  });
});

describe('MODELS', () => {
  const entry = {
    contextWindow: 8192,
    maxOutputTokens: 1024,
    inputPrice: 2.5,
    cachedInputPrice: 1.25,
    outputPrice: 10,
  };
  const modelsOf = (entryOfModel: object) => ({ MODELS: JSON.stringify({ 'my-model': entryOfModel }) });

  it('takes a full entry, a free model and one without prices', () => {
    const models = {
      'my-model': entry,
      free: { contextWindow: 4096, inputPrice: 0, outputPrice: 0 },
      unpriced: { contextWindow: 4096 },
    };
    expect(loadConfig({ MODELS: JSON.stringify(models) }).model.models).toEqual(models);
  });

  it.each(['inputPrice', 'cachedInputPrice', 'outputPrice'])('refuses a negative %s and names it', (price) => {
    expect(problemsOf(modelsOf({ ...entry, [price]: -0.01 }))).toEqual([
      `MODELS.my-model.${price} a price is never negative`,
    ]);
  });

  it.each(['inputPrice', 'outputPrice'])('refuses an entry whose %s is missing while the other is there', (price) => {
    expect(problemsOf(modelsOf({ ...entry, [price]: undefined }))).toEqual([
      'MODELS.my-model needs inputPrice and outputPrice together, or neither',
    ]);
  });

  it.each([
    ['a price that is a text', { ...entry, outputPrice: '10' }, 'outputPrice'],
    ['a price beyond all reason', { ...entry, outputPrice: 1e9 }, 'outputPrice'],
    ['a window of no size', { ...entry, contextWindow: 0 }, 'contextWindow'],
    ['no window', { ...entry, contextWindow: undefined }, 'contextWindow'],
    ['an output limit of nothing', { ...entry, maxOutputTokens: 0 }, 'maxOutputTokens'],
  ])('refuses %s and names the field', (_what, bad, field) => {
    expect(problemsOf(modelsOf(bad))).toEqual([expect.stringMatching(new RegExp(`^MODELS\\.my-model\\.${field} `))]);
  });

  it('refuses a misspelt field, which would otherwise leave a price unknown', () => {
    expect(problemsOf(modelsOf({ contextWindow: 8192, outputprice: 10 }))).toEqual([
      expect.stringMatching(/^MODELS\.my-model .*outputprice/),
    ]);
  });

  it.each(['[]', '"gpt"', '1', 'null'])('refuses JSON that is no table: %s', (text) => {
    expect(problemsOf({ MODELS: text })).toEqual([expect.stringMatching(/^MODELS /)]);
  });
});
