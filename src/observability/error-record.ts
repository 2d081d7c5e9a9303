/** What a log line keeps of an error. */
export interface ErrorRecord {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Frames only: the first line of a stack repeats the message. */
  readonly stack?: readonly string[];
  readonly cause?: ErrorRecord;
}

const frames = (stack: unknown): string[] =>
  typeof stack === 'string'
    ? stack
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
        .slice(0, 12)
        .map((line) => line.trim())
    : [];

const has = (value: object, key: string): boolean => key in value;

/**
 * Many libraries quote the data that they choked on: parsers their input, Prisma the arguments of the call, Postgres
 * the value, a provider's SDK the provider's words. None of that belongs into a log.
 */
function safeMessage(error: Error): string | undefined {
  const { name, message } = error;
  const quotesItsInput =
    error instanceof SyntaxError ||
    name === 'ZodError' ||
    name.startsWith('Prisma') ||
    name.startsWith('DriverAdapter');
  const speaksForAProvider = has(error, 'status') && has(error, 'headers');
  if (quotesItsInput || speaksForAProvider) {
    return undefined;
  }
  const firstLine = message.split('\n', 1)[0] ?? '';
  const quotesAValue = name === 'GraphQLError' || has(error, 'severity');
  return (quotesAValue ? (firstLine.split(/["'`]/, 1)[0] ?? '') : firstLine).slice(0, 300);
}

/**
 * An error for the log: type, code, stack and causes, without the contents that messages may quote. Installed as
 * pino's `err` serializer, so `log.error({ err }, 'what failed')` is enough.
 */
export function describeError(error: unknown, depth = 4): ErrorRecord {
  if (!(error instanceof Error)) {
    return { type: error === null ? 'null' : typeof error };
  }
  const message = safeMessage(error);
  const { code, facts, cause } = error as Error & { code?: unknown; facts?: unknown };
  const stack = frames(error.stack);
  return {
    type: error.constructor.name === 'Error' ? error.name : error.constructor.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(message === undefined || message === '' ? {} : { message }),
    ...(typeof facts === 'object' && facts !== null ? { facts: facts as Record<string, unknown> } : {}),
    ...(stack.length === 0 ? {} : { stack }),
    ...(cause !== undefined && depth > 1 ? { cause: describeError(cause, depth - 1) } : {}),
  };
}
