import type { Principal } from '../auth/principal.js';
import type { TurnEvent } from '../events/event.js';
import type { StoredEnd } from '../events/stored-end.js';

export interface BudgetSettings {
  /** Undefined: the default; null: unlimited. */
  readonly maxCostUsd?: number | null | undefined;
  readonly maxTokens?: number | null | undefined;
}

/** Settings of a session that can change while it is open. Undefined: the default, or what is there. */
export interface SessionSettings {
  readonly title?: string | null | undefined;
  readonly systemPrompt?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly maxHistory?: number | null | undefined;
  readonly maxStepsPerTurn?: number | null | undefined;
  readonly budget?: BudgetSettings | null | undefined;
  readonly metadata?: unknown;
}

/** A tool that the client runs, as it declares it. */
export interface NewClientTool {
  readonly name: string;
  readonly description: string;
  /** What should be the JSON Schema of an object. */
  readonly parameters?: unknown;
}

export interface NewSession extends SessionSettings {
  readonly clientSessionId?: string | null | undefined;
  /** Names of the server's tools that it may use; null or undefined: all but those that have to be named. */
  readonly tools?: readonly string[] | null | undefined;
  readonly clientTools?: readonly NewClientTool[] | null | undefined;
  /** Id of a session whose budget this one draws on. */
  readonly shareBudgetOf?: string | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly maxOutputTokens?: number | null | undefined;
}

export interface SessionChange extends SessionSettings {
  readonly id: string;
}

/** What becomes of a message while a turn is active: refused, kept until its turn comes, or that turn is stopped for it. */
export type WhenBusy = 'REJECT' | 'ENQUEUE' | 'INTERRUPT';

export interface NewMessage {
  readonly sessionId: string;
  readonly message: string;
  readonly images?: readonly string[] | null | undefined;
  readonly clientMessageId?: string | null | undefined;
  /** REJECT when it is left out. */
  readonly whenBusy?: WhenBusy | null | undefined;
  /** Id of the subscription on its WebSocket, the key of a stream that names no other. */
  readonly operationId?: string | null | undefined;
}

/** A copy of a session. */
export interface Fork {
  readonly sessionId: string;
  /** The newest message that is copied. Null or undefined: the whole history. */
  readonly upToMessageId?: string | null | undefined;
  /** Null or undefined: that of the original. */
  readonly title?: string | null | undefined;
  readonly clientSessionId?: string | null | undefined;
}

export interface Regeneration {
  readonly sessionId: string;
  readonly clientMessageId?: string | null | undefined;
}

export interface SeedMessage {
  readonly role: 'USER' | 'ASSISTANT' | 'TOOL' | 'SYSTEM';
  readonly content: string;
  readonly toolCallId?: string | null | undefined;
  readonly toolCalls?:
    | readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[]
    | null
    | undefined;
  readonly createdAt?: Date | null | undefined;
}

export interface SeedResult {
  readonly seededCount: number;
  readonly skippedSystemCount: number;
  readonly roleCounts: Readonly<Record<string, number>>;
  readonly contentDigest: string;
}

/** A turn that has ended, or waits for its user. */
export interface AwaitedTurn {
  readonly turnId: string;
  /** Null when it waits, or when its end was stored elsewhere. */
  readonly stored: StoredEnd | null;
}

export interface QuestionAnswer {
  readonly requestId: string;
  readonly answer: string;
}

export interface ApprovalDecision {
  readonly requestId: string;
  readonly approved: boolean;
  readonly reason?: string | null | undefined;
}

export interface ClientToolResult {
  readonly requestId: string;
  readonly result: string;
  /** False when it is left out. */
  readonly isError?: boolean | null | undefined;
}

/** A tool as its users see it. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly origin: 'BUILT_IN' | 'SERVER' | 'MCP' | 'CLIENT';
  readonly sideEffect: 'NONE' | 'READ' | 'WRITE';
  readonly requiresApproval: boolean;
}

/** A cursor over a turn's events. `return` ends it at once, also while `next` waits. */
export type TurnEventCursor = AsyncIterableIterator<TurnEvent, undefined, undefined>;

/**
 * What can be done with chats. Ids are the database's own (UUIDs), never global ids. Everything throws ChatError for
 * what the caller should know; an object of somebody else is NOT_FOUND.
 */
export interface ChatService {
  createSession(principal: Principal, input: NewSession): Promise<{ id: string }>;
  updateSession(principal: Principal, change: SessionChange): Promise<void>;
  closeSession(principal: Principal, sessionId: string): Promise<void>;
  deleteSession(principal: Principal, sessionId: string): Promise<void>;
  forkSession(principal: Principal, input: Fork): Promise<{ id: string }>;
  seedHistory(principal: Principal, sessionId: string, messages: readonly SeedMessage[]): Promise<SeedResult>;
  /** Resolves when the turn, queued or not, has ended with a usable reply; a failed turn is thrown with `details.turnId`. */
  send(principal: Principal, input: NewMessage): Promise<AwaitedTurn>;
  /** Runs the last turn's user message again in place of that turn; resolves like send. */
  regenerate(principal: Principal, input: Regeneration): Promise<AwaitedTurn>;
  /** Starts a turn, or attaches to the one that the same key has started; `after` is a cursor of that turn. */
  stream(principal: Principal, input: NewMessage, after?: string | null): Promise<TurnEventCursor>;
  turnEvents(principal: Principal, turnId: string, after?: string | null): Promise<TurnEventCursor>;
  /** Every turn of a session, from the active one or a cursor on, until the session is deleted. */
  sessionEvents(principal: Principal, sessionId: string, after?: string | null): Promise<TurnEventCursor>;
  /** Answers a question that a turn waits with; resolves once the turn goes on, long before its end. */
  answerQuestion(principal: Principal, input: QuestionAnswer): Promise<{ turnId: string }>;
  /** Allows a tool call, or does not; as answerQuestion. */
  decideApproval(principal: Principal, input: ApprovalDecision): Promise<{ turnId: string }>;
  /** Gives what a tool of the client has come to; as answerQuestion. */
  submitToolResult(principal: Principal, input: ClientToolResult): Promise<{ turnId: string }>;
  /**
   * Ends the active turn and the queue, or one of these turns, and resolves once they have settled; null when there was
   * nothing to end.
   */
  stop(principal: Principal, sessionId: string, turnId?: string | null): Promise<{ turnId: string } | null>;
  /** The tools that a session may use, those included that it has to name. */
  tools(): readonly ToolInfo[];
  /** The tools that a session has, by what is stored of it: its own declarations last. */
  sessionTools(session: { readonly toolNames: unknown; readonly clientTools: unknown }): readonly ToolInfo[];
  /** Stores what running turns of this process have streamed, so that a read that follows finds it. */
  flush(sessionId: string): Promise<void>;
}
