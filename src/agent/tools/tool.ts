import type { PromptTool } from '../../model/port.js';

/** What a tool does to the world around it: nothing, it reads, or it changes something. */
export type ToolSideEffect = 'none' | 'read' | 'write';

/** Where a tool comes from: this server's code, what its operator adds in code, an MCP server, or the client of a session. */
export type ToolOrigin = 'built_in' | 'server' | 'mcp' | 'client';

interface Described extends PromptTool {
  readonly origin: ToolOrigin;
  readonly sideEffect: ToolSideEffect;
  /** A call is run only after the user has allowed it with exactly these arguments. */
  readonly requiresApproval: boolean;
  /** Running it twice does no harm, so a call that was interrupted may be run again. */
  readonly idempotent: boolean;
  /** Only sessions that name it have it. Left out: it belongs to those that name no tools as well. */
  readonly isOptIn?: boolean;
}

/** Arguments as a tool takes them, or what is wrong with them, in words for the model. */
export type ReadArguments<Value> = { readonly value: Value } | { readonly problem: string };

/** What a running tool is told besides its arguments. */
export interface ToolContext {
  /** Aborted when the turn is stopped, the tool's time is up or the process ends. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  readonly turnId: string;
  /** The same when a call is run again: a key for what must not be done twice. */
  readonly toolCallId: string;
}

/** A tool that this server runs. */
export interface ServerTool extends Described {
  readonly kind: 'server';
  /** For one attempt. */
  readonly timeoutMs: number;
  /** Further attempts after one that came to nothing on the way; 0 unless the tool is idempotent. */
  readonly retries: number;
  /** Longest result in UTF-16 units; null leaves it to the window of the model, which limits it in any case. */
  readonly resultLimit: number | null;
  read(given: Readonly<Record<string, unknown>>): ReadArguments<unknown>;
  /** `value` is what `read` gave. What is thrown is logged and never shown, but for the words of a ToolFailure. */
  run(value: unknown, context: ToolContext): unknown;
}

/** What a tool asks the user. */
export interface Question {
  readonly question: string;
  /** Answers to choose from; null leaves the user free. */
  readonly choices: readonly string[] | null;
}

/** A tool whose calls are answered by the user. */
export interface QuestionTool extends Described {
  readonly kind: 'question';
  read(given: Readonly<Record<string, unknown>>): ReadArguments<Question>;
}

/** A tool that the client of its session runs. */
export interface ClientTool extends Described {
  readonly kind: 'client';
  read(given: Readonly<Record<string, unknown>>): ReadArguments<unknown>;
}

export type Tool = ServerTool | QuestionTool | ClientTool;
