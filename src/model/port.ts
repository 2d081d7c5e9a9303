import type { ErrorCode } from '../errors.js';

/** One message of a prompt, in the vocabulary of the chat completions protocol. */
export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  /** Images are https URLs or data URIs. */
  | { readonly role: 'user'; readonly content: string; readonly images: readonly string[] }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly PromptToolCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly toolCallId: string };

export interface PromptToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** A tool that the model may call. */
export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  /** Left out: none. */
  readonly tools?: readonly PromptTool[];
  readonly temperature: number | null;
  /** Output limit in tokens; null leaves it to the provider. */
  readonly maxOutputTokens: number | null;
}

/** Token counts as the provider reports them: cached is a part of input, reasoning a part of output. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export type ModelFinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls';

/** A call of a tool as the model gave it: nothing of it is checked. */
export interface ModelToolCall {
  /** Empty when the provider gave none; not always unique. */
  readonly id: string;
  readonly name: string;
  /** What should be the JSON text of an object; empty when there is none. */
  readonly arguments: string;
  /** The output limit came in the middle of it. */
  readonly isTruncated: boolean;
}

/**
 * What a model call gives: thinking and text in their order, what arrived together joined, well-formed and without NUL;
 * at the end the finish reason, then the usage. A call that ends without `finish` has failed and throws, and what it
 * gave before is all there is. The words of a refusal are text, with `content_filter` as the finish reason.
 */
export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** A piece of a tool call, as a sign of life and to be counted; the call itself comes whole. */
  | { readonly type: 'tool_call_delta'; readonly text: string }
  /** In the order in which the model began them, before `finish`. */
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  | { readonly type: 'finish'; readonly reason: ModelFinishReason }
  /** At most once, and only when the provider reported usable figures. */
  | { readonly type: 'usage'; readonly usage: TokenUsage };

/** The way to a model provider. One call of `stream` is one request on the wire: retries are the caller's. */
export interface ModelPort {
  /**
   * Asks for one streamed completion.
   *
   * @throws ModelError for everything that goes wrong at the provider or on the way.
   * @throws the signal's reason when the caller aborts; the provider's socket is closed before that.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export type ModelErrorCode = Extract<ErrorCode, `PROVIDER_${string}` | 'CONTEXT_OVERFLOW'>;

/** A failed model call. Never carries the provider's words: `cause` is for the log of this server alone. */
export class ModelError extends Error {
  override readonly name = 'ModelError';

  constructor(
    readonly code: ModelErrorCode,
    /** Whether asking again may help, as long as nothing was received. */
    readonly retryable: boolean,
    /** Facts for the log without contents, such as the HTTP status. */
    readonly facts: Readonly<Record<string, string | number>> = {},
    /** How long the provider asked to wait. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(code);
  }
}
