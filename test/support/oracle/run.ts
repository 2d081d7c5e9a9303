import type { StoredSession } from './read-database.js';

/** An event as a client received it; further fields are its own business. */
export interface SeenEvent {
  readonly __typename: string;
  readonly turnId: string;
  readonly sequence: number;
  readonly cursor: string;
  readonly step?: number;
  readonly messageId?: string;
  readonly delta?: string;
}

/** All that one client was told, over one subscription or several that went on where the one before was cut. */
export interface Watch {
  readonly name: string;
  /** In the order of arrival. */
  readonly events: readonly SeenEvent[];
  /** True when it went on by cursor, so that nothing may have come twice; false when it began anew after a cut. */
  readonly byCursor: boolean;
  /** True when the server said that there was nothing more. */
  readonly isComplete: boolean;
}

/** A message that a client has sent. Times are in milliseconds of one clock. */
export interface SentMessage {
  readonly sessionId: string;
  /** Its text, which no other message of the run has. */
  readonly text: string;
  readonly sentAt: number;
  /** When the client knew that it was accepted; null when it never did. */
  readonly acknowledgedAt: number | null;
  /** The turn that the client was told. */
  readonly turnId: string | null;
}

/** A request as the provider has it in its log. */
export interface ProviderRequest {
  /** Text of the last user message: what it belongs to. */
  readonly text: string;
  /** The usage it has reported, in its own form; null when it reported none. */
  readonly usage: { readonly prompt: number; readonly completion: number } | null;
  /** What it has said. */
  readonly said: string;
}

/** What a tool of the tests has written into a ledger of its own. */
export interface ToolEffect {
  /** Id under which the call is stored. */
  readonly callId: string;
  readonly idempotent: boolean;
  /** How often the tool was run for this call. */
  readonly runs: number;
}

/** Everything that is known of a run after its end. Ids are those that clients see. */
export interface Run {
  readonly sessions: readonly StoredSession[];
  readonly sent: readonly SentMessage[];
  readonly watches: readonly Watch[];
  readonly requests: readonly ProviderRequest[];
  /** The events of each turn as the server tells them now. */
  readonly replays: ReadonlyMap<string, readonly SeenEvent[]>;
  readonly effects: readonly ToolEffect[];
}
