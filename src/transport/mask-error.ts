import { GraphQLError } from 'graphql';
import { ChatError, type ErrorCode, errorTable } from '../errors.js';
import { publicDetails } from '../graphql/public-details.js';
import { ModelError } from '../model/port.js';

/** What yoga reads from an error to choose the status of an HTTP answer. */
export interface HttpHints {
  readonly spec?: boolean;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

export interface MaskedError {
  /** Safe for the client: message, code and details only. */
  readonly error: GraphQLError;
  readonly code: ErrorCode;
  /** For the log. */
  readonly cause: unknown;
  readonly http: HttpHints | null;
}

export interface Masking {
  readonly requestId: string;
  readonly isUnavailable: (error: unknown) => boolean;
  /** Leaves out "Did you mean …?", which tells strangers the names of a schema. */
  readonly hideSuggestions: boolean;
}

/** Messages may quote what the client sent, which may be megabytes. */
const longestMessage = 500;

/** What a resolver threw, under the errors that GraphQL wraps around it to say where. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof GraphQLError && root.originalError) {
    root = root.originalError;
  }
  return root;
}

const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(errorTable, code);

const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
};

/**
 * Errors of GraphQL itself. Those without a path are about the request: its document, its variables, its form. One
 * with a path came up while a field was resolved, for example because a value does not fit its type: our fault, unless
 * whoever threw it gave it a code or is a check of Pothos on arguments.
 */
function codeOfGraphQLError(error: GraphQLError, root: GraphQLError): ErrorCode {
  if (isErrorCode(root.extensions.code)) {
    return root.extensions.code;
  }
  if (error.path !== undefined && root.name !== 'PothosValidationError') {
    return 'INTERNAL';
  }
  const status = (error.extensions.http as HttpHints | undefined)?.status;
  return (status === undefined ? undefined : codeByStatus[status]) ?? 'BAD_USER_INPUT';
}

function classify(error: unknown, root: unknown, masking: Masking): { code: ErrorCode; message: string } {
  if (root instanceof ChatError) {
    return root;
  }
  if (root instanceof ModelError) {
    return { code: root.code, message: errorTable[root.code].message };
  }
  if (masking.isUnavailable(root)) {
    return { code: 'UNAVAILABLE', message: errorTable.UNAVAILABLE.message };
  }
  if (error instanceof GraphQLError && root instanceof GraphQLError) {
    const code = codeOfGraphQLError(error, root);
    if (code === 'INTERNAL') {
      return { code, message: errorTable.INTERNAL.message };
    }
    return { code, message: masking.hideSuggestions ? error.message.replace(suggestion, '') : error.message };
  }
  return { code: 'INTERNAL', message: errorTable.INTERNAL.message };
}

const suggestion = / Did you mean .+\?$/s;

const shorten = (message: string) =>
  message.length > longestMessage ? `${message.slice(0, longestMessage - 1).toWellFormed()}…` : message;

function hintsOf(error: GraphQLError | null): HttpHints | null {
  const http = error?.extensions.http as HttpHints | undefined;
  if (http === undefined) {
    return null;
  }
  // `spec` gives 200 to a client that accepts application/json, which is not meant for a body that is no JSON at all.
  return error?.extensions.originalError === undefined ? http : { ...http, spec: false };
}

/**
 * Turns whatever was thrown into what a client may see: the code, a sentence, whether a retry can help, and the plain
 * details of a ChatError. Faults of this server and of the provider carry the request id, which finds the log line.
 */
export function maskError(error: unknown, masking: Masking): MaskedError {
  const root = rootOf(error);
  const { code, message } = classify(error, root, masking);
  const { category, retryable } = errorTable[code];
  const located = error instanceof GraphQLError ? error : null;
  return {
    error: new GraphQLError(shorten(message), {
      ...(located?.nodes ? { nodes: located.nodes } : {}),
      ...(located?.source ? { source: located.source } : {}),
      ...(located?.positions ? { positions: located.positions } : {}),
      ...(located?.path ? { path: located.path } : {}),
      extensions: {
        code,
        retryable,
        ...(category === 'user' ? {} : { requestId: masking.requestId }),
        ...(root instanceof ChatError ? publicDetails(root.details) : {}),
      },
    }),
    code,
    cause: root,
    http: hintsOf(located),
  };
}

/** The status of an answer that consists of this error alone. */
const statusByCode: Partial<Record<ErrorCode, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

export const statusOf = (code: ErrorCode): number => statusByCode[code] ?? 400;
