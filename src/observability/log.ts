import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { describeError } from './error-record.js';

export type { Logger } from 'pino';

/** Fields that hold secrets or what people wrote. Parts do not log them; this is the second line of defence. */
const guardedFields = [
  'authorization',
  'cookie',
  'token',
  'accessToken',
  'connectionParams',
  'apiKey',
  'password',
  'secret',
  'jwtSecret',
  'connectionString',
  'variables',
  'query',
  'document',
  'content',
  'delta',
  'systemPrompt',
  'prompt',
  'messages',
  'images',
  'arguments',
];

/** Secrets that ended up inside of a text, by their form: bearer tokens, JWTs, provider keys, passwords in URLs. */
const secretForms: readonly [RegExp, string][] = [
  [/\bBearer\s+[^\s"\\]+/gi, 'Bearer [redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/\bsk-[\w-]{8,}/g, '[redacted]'],
  [/(\/\/[^\s:/"@]*):[^\s/"@]+@/g, '$1:[redacted]@'],
];

/**
 * The logger of the process: one JSON object a line, to standard output unless a destination is given.
 *
 * @param secrets values that may never be written, wherever they turn up: keys, passwords, signing secrets
 */
export function createLog(
  level: LevelWithSilent,
  destination?: DestinationStream,
  secrets: readonly string[] = [],
): Logger {
  const known = secrets.filter((secret) => secret.length >= 6).map((secret) => JSON.stringify(secret).slice(1, -1));
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    redact: {
      paths: guardedFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
      // A count is no content.
      censor: (value: unknown) => (typeof value === 'number' || typeof value === 'boolean' ? value : '[redacted]'),
    },
    hooks: {
      streamWrite: (line: string) => {
        const clean = secretForms.reduce((text, [form, instead]) => text.replace(form, instead), line);
        return known.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), clean);
      },
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
