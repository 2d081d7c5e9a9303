/** Who has to act: the caller, the operator of this server, or the model provider. Decides the log level. */
export type ErrorCategory = 'user' | 'system' | 'provider';

interface ErrorEntry {
  readonly category: ErrorCategory;
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;
  /** Safe text for a client when the place of the error has nothing more precise to say. */
  readonly message: string;
  /** For the error reference and the enum's descriptions. */
  readonly description: string;
}

/**
 * Every code a client can meet, in `errors[].extensions.code`, `Turn.error` and `TurnFailed`. The GraphQL enum and
 * docs/errors.md are made from this table; a code is never renamed or removed.
 */
export const errorTable = {
  UNAUTHENTICATED: {
    category: 'user',
    retryable: false,
    message: 'Sign in: send a valid bearer token.',
    description: 'No token, or one that is malformed, expired or not meant for this server.',
  },
  FORBIDDEN: {
    category: 'user',
    retryable: false,
    message: 'This operation is not allowed here.',
    description:
      'Known caller, but the operation is not allowed, for example a foreign browser origin or a missing CSRF header.',
  },
  NOT_FOUND: {
    category: 'user',
    retryable: false,
    message: 'There is no such object, or it is not yours.',
    description: 'The id names nothing that this caller may see. Not there and not yours are one answer on purpose.',
  },
  BAD_USER_INPUT: {
    category: 'user',
    retryable: false,
    message: 'The input is not valid.',
    description:
      'An argument, a variable or the document itself is not valid; the message says which and what to do. Nothing was stored.',
  },
  RATE_LIMITED: {
    category: 'user',
    retryable: true,
    message: 'Too many requests: wait before the next one.',
    description: 'A limit of this server on requests, sockets or subscriptions was reached.',
  },
  SESSION_CLOSED: {
    category: 'user',
    retryable: false,
    message: 'The session is closed: create another one.',
    description: 'The session was closed and takes no more turns, seeds or changes. It can still be read and deleted.',
  },
  TURN_IN_PROGRESS: {
    category: 'user',
    retryable: true,
    message:
      'A turn is already running in this session: wait for its end, stop it, or send with whenBusy ENQUEUE or INTERRUPT.',
    description:
      'The session has an active turn and the call may not run beside it; extensions.turnId names that turn. Or its queue is full; then extensions have queuedTurns and limit.',
  },
  INPUT_PENDING: {
    category: 'user',
    retryable: false,
    message:
      'The running turn waits for an answer: give it with answerQuestion, decideApproval or submitToolResult, or send with whenBusy ENQUEUE or INTERRUPT.',
    description:
      'The active turn waits for its user or client, so no new turn can start. extensions.turnId names that turn, extensions.requestId what it waits for.',
  },
  INPUT_ALREADY_RESOLVED: {
    category: 'user',
    retryable: false,
    message: 'This request is settled: it was answered, or its turn was stopped.',
    description: 'Another answer came first, of which exactly one counts, or the turn that asked was stopped.',
  },
  INPUT_EXPIRED: {
    category: 'user',
    retryable: false,
    message:
      'This request has expired and the turn has gone on without an answer: send what you have to say as a message.',
    description: 'The answer came after expiresAt; the turn went on without it.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    category: 'user',
    retryable: false,
    message: 'This client id was used before with other input: use a new one.',
    description: 'The same clientMessageId or clientSessionId came with other input. Nothing was stored.',
  },
  BUDGET_EXCEEDED: {
    category: 'user',
    retryable: false,
    message: 'No budget is left for a model call: raise the limit with updateChatSession, or ask the operator.',
    description:
      'A budget does not allow another model call: that of the session, or one that the operator has set. extensions say whose (limitScope), on what (limitKind), the limit, what was spent and what calls under way hold.',
  },
  MODEL_PRICE_UNKNOWN: {
    category: 'user',
    retryable: false,
    message: 'The price of this model is unknown, so a cost limit cannot be kept.',
    description:
      'A cost limit applies but the model has no price. Set one in MODELS, or set budget.maxCostUsd to null.',
  },
  PROVIDER_AUTH: {
    category: 'provider',
    retryable: false,
    message: 'The model provider refused the credentials of this server. Ask its operator.',
    description: 'The provider answered 401 or 403. The operator has to check the key.',
  },
  PROVIDER_RATE_LIMITED: {
    category: 'provider',
    retryable: true,
    message: 'The model provider is over its rate limit or quota. Try again later.',
    description: 'The provider answered 429, also after the retries of this server.',
  },
  PROVIDER_UNAVAILABLE: {
    category: 'provider',
    retryable: true,
    message: 'The model provider cannot be reached or is failing. Try again later.',
    description: 'There was no connection or no answer, or the answer was 5xx, also after the retries of this server.',
  },
  PROVIDER_TIMEOUT: {
    category: 'provider',
    retryable: true,
    message: 'The model provider took too long. Try again.',
    description:
      'No chunk came within MODEL_IDLE_TIMEOUT_MS, or the whole call took longer than MODEL_TOTAL_TIMEOUT_MS.',
  },
  PROVIDER_BAD_RESPONSE: {
    category: 'provider',
    retryable: true,
    message: 'The model provider broke off or sent something that is not a reply. Try again.',
    description: 'The stream broke off, ended without a finish reason, or was no chat completion stream.',
  },
  PROVIDER_REFUSED: {
    category: 'provider',
    retryable: false,
    message: 'The model provider refused the request.',
    description: 'The provider answered 400, 404 or another refusal that a retry cannot help.',
  },
  CONTEXT_OVERFLOW: {
    category: 'user',
    retryable: false,
    message:
      "This message does not fit into the model's context window: send a shorter one, or choose a model with a larger window with updateChatSession.",
    description: 'The prompt is larger than the window of the model, even after shortening.',
  },
  EMPTY_RESPONSE: {
    category: 'provider',
    retryable: true,
    message: 'The model gave an empty reply. Try again.',
    description: 'The model finished without any text.',
  },
  MAX_STEPS_EXCEEDED: {
    category: 'user',
    retryable: false,
    message: 'The turn needed more model calls than it may make.',
    description:
      'Not given by this version: a turn that reaches maxStepsPerTurn completes with the finishReason MAX_STEPS and what there is.',
  },
  INTERRUPTED: {
    category: 'system',
    retryable: true,
    message: 'The server was interrupted while this turn ran. Send the message again, under a new clientMessageId.',
    description: 'The process that ran the turn ended. What had been written of the reply is kept.',
  },
  UNAVAILABLE: {
    category: 'system',
    retryable: true,
    message: 'The server cannot do this right now. Try again in a moment.',
    description: 'The database cannot be reached, or the server is starting or stopping.',
  },
  INTERNAL: {
    category: 'system',
    retryable: false,
    message: 'Something went wrong on the server. Report the request id to its operator.',
    description: 'A fault of this server; extensions.requestId finds it in the logs.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** Plain values that a client may see beside the code, for example `turnId` or `limit`. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

/** The one error of the domain: its message is written for the client, its cause is for the log only. */
export class ChatError extends Error {
  override readonly name = 'ChatError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message?: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message ?? errorTable[code].message, { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable;
  }

  get category(): ErrorCategory {
    return errorTable[this.code].category;
  }
}

/** Bad input, with a sentence that names the argument and says what to do. */
export const badInput = (message: string, details?: ErrorDetails) =>
  new ChatError('BAD_USER_INPUT', message, details ? { details } : {});
