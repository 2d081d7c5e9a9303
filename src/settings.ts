import { Decimal } from 'decimal.js';
import { z } from 'zod';

function wholeNumber(fallback: number, min: number, max: number) {
  const range = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(range).int(range).min(min, range).max(max, range).default(fallback);
}
const milliseconds = (fallback: number, min = 1, max = 86_400_000) => wholeNumber(fallback, min, max);
const usdRange = 'must be an amount in USD from 0 to 1000000000';
const price = z
  .number('give a number of USD per million tokens')
  .min(0, 'a price is never negative')
  .max(1_000_000)
  .refine((value) => new Decimal(value).decimalPlaces() <= 8, 'has 8 decimal places at most');

const modelEntry = z.strictObject({
  contextWindow: z.number('give the window in tokens').int().min(256).max(100_000_000),
  maxOutputTokens: z.number('give a number of tokens').int().min(1).max(100_000_000).optional(),
  tools: z.boolean('is true or false').optional(),
  inputPrice: price.optional(),
  cachedInputPrice: price.optional(),
  outputPrice: price.optional(),
});

/** A model as the operator writes it in MODELS: window and output limit in tokens, prices in USD per million tokens. */
export type ModelEntry = z.infer<typeof modelEntry>;

const models = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'is not valid JSON' });
      return z.NEVER;
    }
  })
  .pipe(
    z.record(z.string().min(1).max(200), modelEntry).superRefine((table, context) => {
      for (const [id, entry] of Object.entries(table)) {
        if ((entry.inputPrice === undefined) !== (entry.outputPrice === undefined)) {
          context.addIssue({
            code: 'custom',
            path: [id],
            message: 'needs inputPrice and outputPrice together, or neither',
          });
        }
      }
    }),
  )
  .default({});

const origins = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
  )
  .pipe(
    z.array(
      z
        .string()
        .refine((origin) => URL.canParse(origin) && new URL(origin).origin === origin && !origin.includes('*'), {
          message: 'must be origins such as https://app.example.com, separated by commas, without path or wildcard',
        }),
    ),
  );

const redisUrl = z
  .url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' })
  .refine((url) => !URL.canParse(url) || /^\/?\d{0,4}$/.test(new URL(url).pathname), {
    message: 'must end with the port or with the number of a database, such as redis://host:6379/0',
  });

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

/**
 * Every setting, in the order of the reference page: the environment variable, its type and default, and a sentence.
 * docs/configuration.md and .env.example are made from this table.
 */
export const settings = {
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address to listen on. Anything but loopback needs authentication.'),
  PORT: wholeNumber(4000, 0, 65_535).describe('Port to listen on; 0 takes a free one.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// or postgresql:// URL' })
    .optional()
    .describe('A Postgres to use, version 14 or later. Unset: an embedded one in DATA_DIR.'),
  DATABASE_POOL_SIZE: wholeNumber(10, 2, 500).describe('Most connections to Postgres of this process.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./.data')
    .describe('Folder of the embedded Postgres. One server at a time may use it.'),
  REDIS_URL: redisUrl
    .optional()
    .describe('A Redis that carries events between processes faster than Postgres does. Nothing needs it.'),
  OPENAI_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'has characters that an HTTP header cannot carry')
    .optional()
    .describe('Key for the model provider. With neither this nor OPENAI_BASE_URL the demo model answers.'),
  OPENAI_BASE_URL: httpUrl
    .optional()
    .describe('Base URL of any server that speaks the OpenAI chat completions protocol.'),
  MODEL: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Default model of new sessions. Unset: demo without a provider, gpt-5.4-mini with one.'),
  MODELS: models.describe(
    'JSON that adds to or overrides the table of models: {"my-model": {"contextWindow": 8192, "maxOutputTokens": 1024, "inputPrice": 2.5, "cachedInputPrice": 1.25, "outputPrice": 10}}. Prices in USD per million tokens; 0 for a free model, left out when unknown. "tools": false for a model whose server refuses requests with tools.',
  ),
  MODEL_IDLE_TIMEOUT_MS: milliseconds(60_000).describe(
    'Longest silence of the provider, before its first chunk and between two chunks.',
  ),
  MODEL_TOTAL_TIMEOUT_MS: milliseconds(600_000).describe('Longest time of one model call.'),
  MODEL_MAX_RETRIES: wholeNumber(2, 0, 10).describe(
    'Retries of a model call that failed in a passing way before its first chunk.',
  ),
  MCP_CONFIG: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Path of a JSON file with the MCP servers whose tools the model may call: {"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server"]}, "search": {"url": "https://mcp.example.com/mcp"}}}. Unset: none. See docs/mcp.md.',
    ),
  IMAGE_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder of images that any caller may send by their path. Its links, hard links included, are not followed. Linux only. Unset: no file is read.',
    ),
  SUMMARY_MODEL: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Model that is asked for summaries when a conversation outgrows the context window, better a cheap one. Unset, or in no table: the model of the session itself.',
    ),
  SUMMARY_TIMEOUT_MS: milliseconds(30_000).describe(
    'Longest time of a summary. After it the oldest messages are shortened without one.',
  ),
  BUDGET_MAX_COST_USD: z.coerce
    .number(usdRange)
    .min(0, usdRange)
    .max(1_000_000_000, usdRange)
    .default(10)
    .describe('Cost limit of a new session that names none, in USD.'),
  BUDGET_MAX_TOKENS: wholeNumber(500_000, 0, Number.MAX_SAFE_INTEGER).describe(
    'Token limit of a new session that names none.',
  ),
  TURN_LEASE_MS: milliseconds(15_000, 200).describe(
    'How long the process that runs a turn may be silent before the turn counts as abandoned.',
  ),
  INPUT_TIMEOUT_MS: milliseconds(900_000, 1, 2_592_000_000).describe(
    'How long a question, an approval or a call of a client tool waits for its answer. After that the turn goes on without it.',
  ),
  SHUTDOWN_GRACE_MS: milliseconds(10_000, 0, 3_600_000).describe('How long running turns may finish after SIGTERM.'),
  STALLED_READER_MS: milliseconds(60_000, 1_000).describe(
    'How long a client may take nothing of what is sent to it before its connection is closed. It may come back and resume.',
  ),
  MAX_REQUEST_BYTES: wholeNumber(16_777_216, 65_536, 268_435_456).describe('Largest HTTP body and WebSocket message.'),
  MAX_MESSAGE_BYTES: wholeNumber(1_048_576, 1_024, 67_108_864).describe(
    'Largest text of one message, in bytes of UTF-8.',
  ),
  MAX_QUEUED_TURNS: wholeNumber(10, 0, 1_000).describe(
    'Most turns that may wait in the queue of one session; 0 lets none wait.',
  ),
  CORS_ORIGINS: origins.describe(
    'Browser origins that may call this server, separated by commas; also for the WebSocket upgrade. Its own origin is always allowed.',
  ),
  AUTH_JWT_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe('Secret of HS256 bearer tokens. Turns authentication on.'),
  AUTH_JWKS_URL: httpUrl.optional().describe('Where the public keys of bearer tokens are. Turns authentication on.'),
  AUTH_ISSUER: z.string().min(1).optional().describe('Issuer that a token must name.'),
  AUTH_AUDIENCE: z.string().min(1).optional().describe('Audience that a token must name.'),
  GRAPHIQL: z
    .enum(['on', 'off'], 'must be on or off')
    .default('on')
    .describe('Whether GraphiQL is served to browsers at /graphql.'),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    )
    .default('info')
    .describe('Least severe log line that is written.'),
} as const;
